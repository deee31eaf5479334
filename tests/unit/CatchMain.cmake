# Target mlip_dd_catch: Catch2 (v2 or v3) and a main function, for every unit test. Tests include
# "catch.h", which hides the difference of the two.
find_package(Catch2 QUIET)
if(NOT Catch2_FOUND)
  message(FATAL_ERROR "The unit tests need Catch2, which was not found. Install Debian's `catch2`, "
                      "or configure with -DMLIP_DD_TESTS=OFF.")
endif()
if(Catch2_VERSION VERSION_GREATER_EQUAL 3)
  set(mlip_dd_catch_major 3)
else()
  set(mlip_dd_catch_major 2)
endif()
add_library(mlip_dd_catch STATIC ${CMAKE_CURRENT_LIST_DIR}/catch_main.cpp)
target_include_directories(mlip_dd_catch PUBLIC ${CMAKE_CURRENT_LIST_DIR})
target_compile_definitions(mlip_dd_catch PUBLIC MLIP_DD_CATCH_MAJOR=${mlip_dd_catch_major})
target_link_libraries(mlip_dd_catch PUBLIC Catch2::Catch2)
