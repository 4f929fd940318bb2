# Writes OUTPUT, a header that names the commit of SOURCE, if it says something new. Run at every
# build, so that a result never names a commit it was not built from.
find_package(Git QUIET)
set(commit "unknown")
if(GIT_FOUND)
  execute_process(COMMAND ${GIT_EXECUTABLE} -C ${SOURCE} rev-parse --short=12 HEAD
    OUTPUT_VARIABLE head OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
  if(status EQUAL 0)
    set(commit "${head}")
    # Untracked files and the results themselves do not change what was built.
    execute_process(COMMAND ${GIT_EXECUTABLE} -C ${SOURCE} status --porcelain
        --untracked-files=no -- . ":(exclude)docs" ":(exclude)README.md"
      OUTPUT_VARIABLE changes OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(NOT changes STREQUAL "")
      string(APPEND commit "-dirty")
    endif()
  endif()
endif()
set(text "#define RADIANCE_COMMIT \"${commit}\"\n")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} old)
endif()
if(NOT "${old}" STREQUAL "${text}")
  file(WRITE ${OUTPUT} "${text}")
endif()
