# rehearse_library(NAME [DIRS dir...] [PUBLIC lib...] [PRIVATE lib...]): a static library of the .cpp files of the named
# folders (default: the current one), seen by its users under root-relative includes ("sim/base/units.hpp"). A main.cpp
# belongs to a program and is left out, so that tests can link the rest.
function(rehearse_library name)
  cmake_parse_arguments(ARG "" "" "DIRS;PUBLIC;PRIVATE" ${ARGN})
  if(NOT ARG_DIRS)
    set(ARG_DIRS .)
  endif()
  set(sources)
  foreach(dir ${ARG_DIRS})
    file(GLOB found CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${dir}/*.cpp)
    list(APPEND sources ${found})
  endforeach()
  list(FILTER sources EXCLUDE REGEX "/main\\.cpp$")
  if(NOT sources)
    add_library(${name} INTERFACE)  # a folder that holds headers only
    target_include_directories(${name} INTERFACE ${PROJECT_SOURCE_DIR})
    target_link_libraries(${name} INTERFACE ${ARG_PUBLIC} ${ARG_PRIVATE})
    return()
  endif()
  add_library(${name} STATIC ${sources})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PUBLIC ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE})
  rehearse_options(${name})
endfunction()

# rehearse_options(TARGET): the warnings under which the project compiles clean. Presets turn them into errors.
function(rehearse_options name)
  set(warnings -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor
    -Woverloaded-virtual)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # g++ 12 reports overlapping copies inside the library's own "text" + std::string (GCC bugs 105329, 105651).
    # It also takes strings inside a braced temporary for uninitialised (GCC bug 105562).
    list(APPEND warnings -Wno-restrict -Wno-maybe-uninitialized)
  endif()
  target_compile_options(${name} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${warnings}>")
endfunction()
