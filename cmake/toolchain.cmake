# How everything is compiled: cache and linker where they are present, sanitizers, and one arithmetic.
find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()
find_program(MOLD mold)
if(MOLD)
  add_link_options(-fuse-ld=mold)
endif()

# A run is a function of scenario, seed and commit. Compilers that fuse a * b + c where the machine can would make it a
# function of the machine as well.
add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>)

if(SANITIZE)
  string(REPLACE ";" "," REHEARSE_SANITIZERS "${SANITIZE}")
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${REHEARSE_SANITIZERS}>
                      $<$<COMPILE_LANGUAGE:CXX>:-fno-omit-frame-pointer>)
  add_link_options(-fsanitize=${REHEARSE_SANITIZERS})
  if(SANITIZE MATCHES "undefined")
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize-recover=undefined>)
  endif()
endif()
