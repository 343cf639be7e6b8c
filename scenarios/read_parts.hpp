// The parts of read_scenario(): one function per block of the file.
#pragma once

#include "scenarios/scenario.hpp"
#include "sim/config/reader.hpp"

namespace rehearse {

void read_cluster(Reader cluster, ClusterSpec& spec);
void read_job(Reader job, JobSpec& spec, ParallelSpec& parallel);
void read_training(Reader training, TrainingSpec& spec);
// `folder` is that of the scenario file. Faults of the profile file join `faults`.
void read_models(Reader models, const std::string& folder, ModelsSpec& spec, FaultList& faults);

}  // namespace rehearse
