# Finds the Python interpreter and where its packages lie, without importing them (torch takes
# seconds to import).
set(Python3_FIND_VIRTUALENV FIRST)
find_package(Python3 3.10 REQUIRED COMPONENTS Interpreter)

# mlip_dd_python_package(<package> <out>): the package's folder, or <out>-NOTFOUND.
function(mlip_dd_python_package package out)
  execute_process(
    COMMAND ${Python3_EXECUTABLE} -c
      "import importlib.util as u; s = u.find_spec('${package}'); print(s.submodule_search_locations[0] if s and s.submodule_search_locations else '')"
    OUTPUT_VARIABLE folder OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(NOT folder)
    set(folder "${out}-NOTFOUND")
  endif()
  set(${out} "${folder}" PARENT_SCOPE)
endfunction()
