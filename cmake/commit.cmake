# cmake -DSOURCE_DIR=... -DHEADER=... -P commit.cmake: writes the current commit into HEADER. "unknown" outside a
# checkout (a source archive); a trailing "-dirty" when tracked files differ from the commit.
find_package(Git QUIET)
set(commit unknown)
if(GIT_FOUND)
  execute_process(
    COMMAND ${GIT_EXECUTABLE} describe --always --dirty --exclude=* --abbrev=12
    WORKING_DIRECTORY ${SOURCE_DIR}
    OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed ERROR_QUIET)
  if(NOT failed)
    set(commit ${described})
  endif()
endif()
set(text "#pragma once\n#define REHEARSE_COMMIT \"${commit}\"\n")
set(previous)
if(EXISTS ${HEADER})
  file(READ ${HEADER} previous)
endif()
if(NOT text STREQUAL previous)
  file(WRITE ${HEADER} "${text}")
endif()
