#map = affine_map<() -> ()>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
module {
  func.func @kina_llm_generate(%arg0: tensor<2x4xf32> {bufferization.writable = false}, %arg1: tensor<4x4xf32> {bufferization.writable = false}, %arg2: tensor<i64> {bufferization.writable = false}) -> (tensor<i64>, tensor<2x4xf32>) attributes {llvm.emit_c_interface} {
    %cst = arith.constant dense<0> : tensor<i64>
    %cst_0 = arith.constant dense<1> : tensor<i64>
    %0 = bufferization.alloc_tensor() copy(%cst) : tensor<i64>
    %1 = bufferization.alloc_tensor() copy(%arg0) : tensor<2x4xf32>
    %2:2 = scf.while (%arg3 = %0, %arg4 = %1) : (tensor<i64>, tensor<2x4xf32>) -> (tensor<i64>, tensor<2x4xf32>) {
      %3 = tensor.empty() : tensor<i8>
      %4 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = []} ins(%arg3, %arg2 : tensor<i64>, tensor<i64>) outs(%3 : tensor<i8>) {
      ^bb0(%in: i64, %in_1: i64, %out: i8):
        %6 = arith.cmpi slt, %in, %in_1 : i64
        %7 = arith.extui %6 : i1 to i8
        linalg.yield %7 : i8
      } -> tensor<i8>
      %c0 = arith.constant 0 : index
      %extracted = tensor.extract %4[] : tensor<i8>
      %5 = arith.trunci %extracted : i8 to i1
      scf.condition(%5) %arg3, %arg4 : tensor<i64>, tensor<2x4xf32>
    } do {
    ^bb0(%arg3: tensor<i64>, %arg4: tensor<2x4xf32>):
      %cst_1 = arith.constant 0.000000e+00 : f32
      %3 = tensor.empty() : tensor<2x4xf32>
      %4 = linalg.fill ins(%cst_1 : f32) outs(%3 : tensor<2x4xf32>) -> tensor<2x4xf32>
      %5 = linalg.matmul ins(%arg4, %arg1 : tensor<2x4xf32>, tensor<4x4xf32>) outs(%4 : tensor<2x4xf32>) -> tensor<2x4xf32>
      %6 = tensor.empty() : tensor<i64>
      %7 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = []} ins(%arg3, %cst_0 : tensor<i64>, tensor<i64>) outs(%6 : tensor<i64>) {
      ^bb0(%in: i64, %in_2: i64, %out: i64):
        %16 = arith.addi %in, %in_2 : i64
        linalg.yield %16 : i64
      } -> tensor<i64>
      %8 = tensor.empty() : tensor<2x4xf32>
      %9 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg4, %5 : tensor<2x4xf32>, tensor<2x4xf32>) outs(%8 : tensor<2x4xf32>) {
      ^bb0(%in: f32, %in_2: f32, %out: f32):
        %16 = arith.addf %in, %in_2 : f32
        linalg.yield %16 : f32
      } -> tensor<2x4xf32>
      %10 = tensor.empty() : tensor<2x4xf32>
      %11 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%9 : tensor<2x4xf32>) outs(%10 : tensor<2x4xf32>) {
      ^bb0(%in: f32, %out: f32):
        %16 = math.tanh %in : f32
        linalg.yield %16 : f32
      } -> tensor<2x4xf32>
      %12 = bufferization.alloc_tensor() copy(%7) : tensor<i64>
      %13 = bufferization.alloc_tensor() copy(%11) : tensor<2x4xf32>
      %14 = bufferization.materialize_in_destination %12 in %arg3 : (tensor<i64>, tensor<i64>) -> tensor<i64>
      %15 = bufferization.materialize_in_destination %13 in %arg4 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
      scf.yield %14, %15 : tensor<i64>, tensor<2x4xf32>
    }
    return %2#0, %2#1 : tensor<i64>, tensor<2x4xf32>
  }
  func.func @kina_main(%arg0: tensor<2x4xf32> {bufferization.writable = false}, %arg1: tensor<4x4xf32> {bufferization.writable = false}, %arg2: tensor<i64> {bufferization.writable = false}) -> (tensor<i64>, tensor<2x4xf32>) attributes {llvm.emit_c_interface} {
    %0:2 = call @kina_llm_generate(%arg0, %arg1, %arg2) : (tensor<2x4xf32>, tensor<4x4xf32>, tensor<i64>) -> (tensor<i64>, tensor<2x4xf32>)
    return %0#0, %0#1 : tensor<i64>, tensor<2x4xf32>
  }
}
