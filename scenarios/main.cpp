#include "scenarios/commands/commands.hpp"

int main(int argc, char** argv) { return rehearse::run_program(argc, argv); }
