set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()

set(RAILWRIGHT_SANITIZE "" CACHE STRING "address,undefined or thread")
option(RAILWRIGHT_FUZZ "Build the fuzz targets of tests/fuzz and nothing else (Clang)" OFF)

# Linked by every target of ours; warnings are errors.
add_library(rw_flags INTERFACE)
target_compile_options(rw_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wnon-virtual-dtor -Werror)
# libstdc++'s own headers trip these under -O2 in GCC 12 (bug 105329, 105651); they say nothing of our code.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(rw_flags INTERFACE -Wno-restrict -Wno-maybe-uninitialized)
endif()
target_compile_definitions(rw_flags INTERFACE RAILWRIGHT_VERSION="${PROJECT_VERSION}")
target_include_directories(rw_flags INTERFACE ${PROJECT_SOURCE_DIR})
if(RAILWRIGHT_SANITIZE)
  add_compile_options(-fsanitize=${RAILWRIGHT_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${RAILWRIGHT_SANITIZE})
endif()
if(RAILWRIGHT_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# rw_library(NAME [DEPENDS …] [PRIVATE …]): a static library of this folder's *.cc; its link line is the row of
# "who may use whom" in the design.
function(rw_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;PRIVATE;EXCLUDE" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS *.cc)
  foreach(one main.cc ${ARG_EXCLUDE})
    list(REMOVE_ITEM sources ${CMAKE_CURRENT_SOURCE_DIR}/${one})
  endforeach()
  add_library(${name} STATIC ${sources})
  target_link_libraries(${name} PUBLIC ${ARG_DEPENDS} PRIVATE rw_flags ${ARG_PRIVATE})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
endfunction()
