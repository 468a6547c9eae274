# hone_embed(TARGET SYMBOL FILE): embeds FILE's bytes in TARGET as
#   extern const unsigned char SYMBOL[]; extern const unsigned long SYMBOL_size;   (C linkage, NUL-terminated)
# by the assembler's .incbin: no generated array for the compiler to parse.
function(hone_embed target symbol file)
  set(asm ${CMAKE_CURRENT_BINARY_DIR}/embed_${symbol}.c)
  get_filename_component(absolute ${file} ABSOLUTE BASE_DIR ${CMAKE_CURRENT_SOURCE_DIR})
  file(GENERATE OUTPUT ${asm} CONTENT
"__asm__(\".section .rodata\\n.balign 16\\n.global ${symbol}\\n${symbol}:\\n.incbin \\\"${absolute}\\\"\\n\"
        \"hone_end_${symbol}:\\n.byte 0\\n.balign 8\\n.global ${symbol}_size\\n${symbol}_size:\\n\"
        \".quad hone_end_${symbol} - ${symbol}\\n.previous\\n\");
")
  set_source_files_properties(${asm} PROPERTIES GENERATED TRUE OBJECT_DEPENDS ${absolute})
  set_property(SOURCE ${asm} APPEND PROPERTY COMPILE_OPTIONS "-w")
  target_sources(${target} PRIVATE ${asm})
endfunction()
