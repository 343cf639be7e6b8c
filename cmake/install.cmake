# The installed tree: bin/rehearse, and under share/rehearse the data files at the paths they have in the source tree,
# so that one relative name finds a file in both (scenarios/installation.hpp).
if(TARGET rehearse)
  install(TARGETS rehearse RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

set(REHEARSE_DATA_DIR ${CMAKE_INSTALL_DATAROOTDIR}/rehearse)
file(GLOB_RECURSE tables CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
  models/*.yaml models/*.csv scenarios/*.yaml scenarios/*.csv tests/validation/*.yaml tests/validation/*.csv)
foreach(table ${tables})
  get_filename_component(folder ${table} DIRECTORY)
  install(FILES ${table} DESTINATION ${REHEARSE_DATA_DIR}/${folder})
endforeach()
file(GLOB report_parts CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} reports/*.py)
foreach(part ${report_parts})
  install(PROGRAMS ${part} DESTINATION ${REHEARSE_DATA_DIR}/reports)
endforeach()
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
