#map = affine_map<() -> ()>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
module {
  func.func @kina_llm_generate(%arg0: tensor<2x4xf32> {bufferization.writable = false}, %arg1: tensor<4x4xf32> {bufferization.writable = false}, %arg2: tensor<i64> {bufferization.writable = false}) -> (tensor<i64>, tensor<2x4xf32>) attributes {llvm.emit_c_interface} {
    %cst = arith.constant dense<0> : tensor<i64>
    %cst_0 = arith.constant dense<1> : tensor<i64>
    %0:2 = scf.while (%arg3 = %cst, %arg4 = %arg0) : (tensor<i64>, tensor<2x4xf32>) -> (tensor<i64>, tensor<2x4xf32>) {
      %1 = tensor.empty() : tensor<i8>
      %2 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = []} ins(%arg3, %arg2 : tensor<i64>, tensor<i64>) outs(%1 : tensor<i8>) {
      ^bb0(%in: i64, %in_1: i64, %out: i8):
        %4 = arith.cmpi slt, %in, %in_1 : i64
        %5 = arith.extui %4 : i1 to i8
        linalg.yield %5 : i8
      } -> tensor<i8>
      %c0 = arith.constant 0 : index
      %extracted = tensor.extract %2[] : tensor<i8>
      %3 = arith.trunci %extracted : i8 to i1
      scf.condition(%3) %arg3, %arg4 : tensor<i64>, tensor<2x4xf32>
    } do {
    ^bb0(%arg3: tensor<i64>, %arg4: tensor<2x4xf32>):
      %cst_1 = arith.constant 0.000000e+00 : f32
      %1 = tensor.empty() : tensor<2x4xf32>
      %2 = linalg.fill ins(%cst_1 : f32) outs(%1 : tensor<2x4xf32>) -> tensor<2x4xf32>
      %3 = linalg.matmul ins(%arg4, %arg1 : tensor<2x4xf32>, tensor<4x4xf32>) outs(%2 : tensor<2x4xf32>) -> tensor<2x4xf32>
      %4 = tensor.empty() : tensor<i64>
      %5 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = []} ins(%arg3, %cst_0 : tensor<i64>, tensor<i64>) outs(%4 : tensor<i64>) {
      ^bb0(%in: i64, %in_2: i64, %out: i64):
        %14 = arith.addi %in, %in_2 : i64
        linalg.yield %14 : i64
      } -> tensor<i64>
      %6 = tensor.empty() : tensor<2x4xf32>
      %7 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg4, %3 : tensor<2x4xf32>, tensor<2x4xf32>) outs(%6 : tensor<2x4xf32>) {
      ^bb0(%in: f32, %in_2: f32, %out: f32):
        %14 = arith.addf %in, %in_2 : f32
        linalg.yield %14 : f32
      } -> tensor<2x4xf32>
      %8 = tensor.empty() : tensor<2x4xf32>
      %9 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%7 : tensor<2x4xf32>) outs(%8 : tensor<2x4xf32>) {
      ^bb0(%in: f32, %out: f32):
        %14 = math.tanh %in : f32
        linalg.yield %14 : f32
      } -> tensor<2x4xf32>
      %10 = bufferization.alloc_tensor() copy(%5) : tensor<i64>
      %11 = bufferization.alloc_tensor() copy(%9) : tensor<2x4xf32>
      %12 = bufferization.materialize_in_destination %10 in %arg3 : (tensor<i64>, tensor<i64>) -> tensor<i64>
      %13 = bufferization.materialize_in_destination %11 in %arg4 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
      scf.yield %12, %13 : tensor<i64>, tensor<2x4xf32>
    }
    return %0#0, %0#1 : tensor<i64>, tensor<2x4xf32>
  }
  func.func @kina_main(%arg0: tensor<2x4xf32> {bufferization.writable = false}, %arg1: tensor<4x4xf32> {bufferization.writable = false}, %arg2: tensor<i64> {bufferization.writable = false}) -> (tensor<i64>, tensor<2x4xf32>) attributes {llvm.emit_c_interface} {
    %0:2 = call @kina_llm_generate(%arg0, %arg1, %arg2) : (tensor<2x4xf32>, tensor<4x4xf32>, tensor<i64>) -> (tensor<i64>, tensor<2x4xf32>)
    return %0#0, %0#1 : tensor<i64>, tensor<2x4xf32>
  }
}
