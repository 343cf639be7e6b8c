# The program itself, and what it knows about its build: version, commit, and where the source tree was.
if(TARGET scenarios AND EXISTS ${PROJECT_SOURCE_DIR}/scenarios/installation.cpp)
  set(REHEARSE_GENERATED ${PROJECT_BINARY_DIR}/generated)
  # Runs at every build and touches the header only when the commit has moved: results name the commit they came from.
  add_custom_target(rehearse_commit
    COMMAND ${CMAKE_COMMAND} -DSOURCE_DIR=${PROJECT_SOURCE_DIR} -DHEADER=${REHEARSE_GENERATED}/rehearse_commit.hpp
            -P ${PROJECT_SOURCE_DIR}/cmake/commit.cmake
    BYPRODUCTS ${REHEARSE_GENERATED}/rehearse_commit.hpp
    COMMENT "Naming the commit")
  add_dependencies(scenarios rehearse_commit)
  target_include_directories(scenarios PRIVATE ${REHEARSE_GENERATED})
  set_source_files_properties(scenarios/installation.cpp TARGET_DIRECTORY scenarios PROPERTIES COMPILE_DEFINITIONS
    "REHEARSE_VERSION=\"${PROJECT_VERSION}\";REHEARSE_SOURCE_DIR=\"${PROJECT_SOURCE_DIR}\"")
endif()

if(EXISTS ${PROJECT_SOURCE_DIR}/scenarios/main.cpp)
  add_executable(rehearse scenarios/main.cpp)
  target_link_libraries(rehearse PRIVATE scenarios)
  rehearse_options(rehearse)
endif()
