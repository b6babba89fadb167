"""The runtime that programs are linked with: memory that is given back all at once, when results have been read.

`finalize-memref-to-llvm` with `use-generic-functions` calls an allocator by two names; its definitions are here, in the
LLVM dialect, so that the JIT and a shared object have the same one. Blocks form a ring; `free` takes one out, so a
pipeline that deallocates early is served too, and `RELEASE` frees all that is left. Nothing is freed twice and nothing
leaks, whatever views and repeated values a function returns. Memory comes filled with bytes of 0x7F, huge numbers in
most dtypes: what a pass forgets to write is wrong, and wrong each time, whatever was there before. It is code of its
own, so no optimisation of a program sees what the memory was filled with. Reading results is `compiler.abi`'s business,
linking `compiler.backend`'s.
"""

from __future__ import annotations

RELEASE = "runtime_release"  # a fn's symbol has another prefix

# A block is 64 bytes of header, whose first two words are its neighbours in the ring, and then what was asked for.
DEFINITIONS = """
llvm.func @aligned_alloc(i64, i64) -> !llvm.ptr
llvm.func @free(!llvm.ptr)
llvm.mlir.global internal @runtime_ring() : !llvm.struct<(ptr, ptr)> {
  %ring = llvm.mlir.addressof @runtime_ring : !llvm.ptr
  %undef = llvm.mlir.undef : !llvm.struct<(ptr, ptr)>
  %half = llvm.insertvalue %ring, %undef[0] : !llvm.struct<(ptr, ptr)>
  %empty = llvm.insertvalue %ring, %half[1] : !llvm.struct<(ptr, ptr)>
  llvm.return %empty : !llvm.struct<(ptr, ptr)>
}
llvm.func hidden @_mlir_memref_to_llvm_alloc(%size: i64) -> !llvm.ptr {
  %align = llvm.mlir.constant(64 : i64) : i64
  %extra = llvm.mlir.constant(127 : i64) : i64
  %mask = llvm.mlir.constant(-64 : i64) : i64
  %sum = llvm.add %size, %extra : i64
  %total = llvm.and %sum, %mask : i64
  %block = llvm.call @aligned_alloc(%align, %total) : (i64, i64) -> !llvm.ptr
  %ring = llvm.mlir.addressof @runtime_ring : !llvm.ptr
  %next = llvm.load %ring : !llvm.ptr -> !llvm.ptr
  %block_back = llvm.getelementptr %block[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %next_back = llvm.getelementptr %next[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  llvm.store %next, %block : !llvm.ptr, !llvm.ptr
  llvm.store %ring, %block_back : !llvm.ptr, !llvm.ptr
  llvm.store %block, %next_back : !llvm.ptr, !llvm.ptr
  llvm.store %block, %ring : !llvm.ptr, !llvm.ptr
  %data = llvm.getelementptr %block[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %poison = llvm.mlir.constant(127 : i8) : i8
  "llvm.intr.memset"(%data, %poison, %size) <{isVolatile = false}> : (!llvm.ptr, i8, i64) -> ()
  llvm.return %data : !llvm.ptr
}
llvm.func hidden @_mlir_memref_to_llvm_free(%data: !llvm.ptr) {
  %block = llvm.getelementptr %data[-64] : (!llvm.ptr) -> !llvm.ptr, i8
  %block_back = llvm.getelementptr %block[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %next = llvm.load %block : !llvm.ptr -> !llvm.ptr
  %back = llvm.load %block_back : !llvm.ptr -> !llvm.ptr
  %next_back = llvm.getelementptr %next[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  llvm.store %next, %back : !llvm.ptr, !llvm.ptr
  llvm.store %back, %next_back : !llvm.ptr, !llvm.ptr
  llvm.call @free(%block) : (!llvm.ptr) -> ()
  llvm.return
}
llvm.func @_mlir_ciface_runtime_release() {
  %ring = llvm.mlir.addressof @runtime_ring : !llvm.ptr
  llvm.br ^next
^next:
  %block = llvm.load %ring : !llvm.ptr -> !llvm.ptr
  %empty = llvm.icmp "eq" %block, %ring : !llvm.ptr
  llvm.cond_br %empty, ^done, ^release
^release:
  %data = llvm.getelementptr %block[64] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.call @_mlir_memref_to_llvm_free(%data) : (!llvm.ptr) -> ()
  llvm.br ^next
^done:
  llvm.return
}
"""
