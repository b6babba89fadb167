#map = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>
#map1 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d4, d3)>
#map2 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
#map3 = affine_map<(d0, d1, d2, d3) -> (0, 0, 0, 0)>
#map4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map5 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
module {
  func.func @kina_kv_step(%arg0: tensor<1x2x1x2xf32> {bufferization.writable = false}, %arg1: tensor<1x2x2x3xf32> {bufferization.writable = false}, %arg2: tensor<1x2x2x1xf32> {bufferization.writable = false}, %arg3: tensor<1x2x3x2xf32> {bufferization.writable = false}, %arg4: tensor<1x2x1x2xf32> {bufferization.writable = false}, %arg5: tensor<1x1x1x1xf32> {bufferization.writable = false}) -> (tensor<1x2x2x4xf32>, tensor<1x2x4x2xf32>, tensor<1x2x1x2xf32>) attributes {llvm.emit_c_interface} {
    %0 = tensor.empty() : tensor<1x2x2x4xf32>
    %inserted_slice = tensor.insert_slice %arg1 into %0[0, 0, 0, 0] [1, 2, 2, 3] [1, 1, 1, 1] : tensor<1x2x2x3xf32> into tensor<1x2x2x4xf32>
    %inserted_slice_0 = tensor.insert_slice %arg2 into %inserted_slice[0, 0, 0, 3] [1, 2, 2, 1] [1, 1, 1, 1] : tensor<1x2x2x1xf32> into tensor<1x2x2x4xf32>
    %1 = tensor.empty() : tensor<1x2x4x2xf32>
    %inserted_slice_1 = tensor.insert_slice %arg3 into %1[0, 0, 0, 0] [1, 2, 3, 2] [1, 1, 1, 1] : tensor<1x2x3x2xf32> into tensor<1x2x4x2xf32>
    %inserted_slice_2 = tensor.insert_slice %arg4 into %inserted_slice_1[0, 0, 3, 0] [1, 2, 1, 2] [1, 1, 1, 1] : tensor<1x2x1x2xf32> into tensor<1x2x4x2xf32>
    %cst = arith.constant 0.000000e+00 : f32
    %2 = tensor.empty() : tensor<1x2x1x4xf32>
    %3 = linalg.fill ins(%cst : f32) outs(%2 : tensor<1x2x1x4xf32>) -> tensor<1x2x1x4xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%arg0, %inserted_slice_0 : tensor<1x2x1x2xf32>, tensor<1x2x2x4xf32>) outs(%3 : tensor<1x2x1x4xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %22 = arith.mulf %in, %in_6 : f32
      %23 = arith.addf %out, %22 : f32
      linalg.yield %23 : f32
    } -> tensor<1x2x1x4xf32>
    %5 = tensor.empty() : tensor<1x2x1x4xf32>
    %6 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg5 : tensor<1x1x1x1xf32>) outs(%5 : tensor<1x2x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x2x1x4xf32>
    %7 = tensor.empty() : tensor<1x2x1x4xf32>
    %8 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%4, %6 : tensor<1x2x1x4xf32>, tensor<1x2x1x4xf32>) outs(%7 : tensor<1x2x1x4xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %22 = arith.mulf %in, %in_6 : f32
      linalg.yield %22 : f32
    } -> tensor<1x2x1x4xf32>
    %cst_3 = arith.constant 0xFF800000 : f32
    %9 = tensor.empty() : tensor<1x2x1xf32>
    %10 = linalg.fill ins(%cst_3 : f32) outs(%9 : tensor<1x2x1xf32>) -> tensor<1x2x1xf32>
    %11 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%8 : tensor<1x2x1x4xf32>) outs(%10 : tensor<1x2x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %22 = arith.maximumf %out, %in : f32
      linalg.yield %22 : f32
    } -> tensor<1x2x1xf32>
    %12 = tensor.empty() : tensor<1x2x1x4xf32>
    %13 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%8, %11 : tensor<1x2x1x4xf32>, tensor<1x2x1xf32>) outs(%12 : tensor<1x2x1x4xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %22 = arith.subf %in, %in_6 : f32
      %23 = math.exp %22 : f32
      linalg.yield %23 : f32
    } -> tensor<1x2x1x4xf32>
    %cst_4 = arith.constant 0.000000e+00 : f32
    %14 = tensor.empty() : tensor<1x2x1xf32>
    %15 = linalg.fill ins(%cst_4 : f32) outs(%14 : tensor<1x2x1xf32>) -> tensor<1x2x1xf32>
    %16 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%13 : tensor<1x2x1x4xf32>) outs(%15 : tensor<1x2x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %22 = arith.addf %out, %in : f32
      linalg.yield %22 : f32
    } -> tensor<1x2x1xf32>
    %17 = tensor.empty() : tensor<1x2x1x4xf32>
    %18 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%13, %16 : tensor<1x2x1x4xf32>, tensor<1x2x1xf32>) outs(%17 : tensor<1x2x1x4xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %22 = arith.divf %in, %in_6 : f32
      linalg.yield %22 : f32
    } -> tensor<1x2x1x4xf32>
    %cst_5 = arith.constant 0.000000e+00 : f32
    %19 = tensor.empty() : tensor<1x2x1x2xf32>
    %20 = linalg.fill ins(%cst_5 : f32) outs(%19 : tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %21 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%18, %inserted_slice_2 : tensor<1x2x1x4xf32>, tensor<1x2x4x2xf32>) outs(%20 : tensor<1x2x1x2xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %22 = arith.mulf %in, %in_6 : f32
      %23 = arith.addf %out, %22 : f32
      linalg.yield %23 : f32
    } -> tensor<1x2x1x2xf32>
    return %inserted_slice_0, %inserted_slice_2, %21 : tensor<1x2x2x4xf32>, tensor<1x2x4x2xf32>, tensor<1x2x1x2xf32>
  }
  func.func @kina_main(%arg0: tensor<1x2x1x2xf32> {bufferization.writable = false}, %arg1: tensor<1x2x2x3xf32> {bufferization.writable = false}, %arg2: tensor<1x2x2x1xf32> {bufferization.writable = false}, %arg3: tensor<1x2x3x2xf32> {bufferization.writable = false}, %arg4: tensor<1x2x1x2xf32> {bufferization.writable = false}, %arg5: tensor<1x1x1x1xf32> {bufferization.writable = false}) -> (tensor<1x2x2x4xf32>, tensor<1x2x4x2xf32>, tensor<1x2x1x2xf32>) attributes {llvm.emit_c_interface} {
    %0:3 = call @kina_kv_step(%arg0, %arg1, %arg2, %arg3, %arg4, %arg5) : (tensor<1x2x1x2xf32>, tensor<1x2x2x3xf32>, tensor<1x2x2x1xf32>, tensor<1x2x3x2xf32>, tensor<1x2x1x2xf32>, tensor<1x1x1x1xf32>) -> (tensor<1x2x2x4xf32>, tensor<1x2x4x2xf32>, tensor<1x2x1x2xf32>)
    return %0#0, %0#1, %0#2 : tensor<1x2x2x4xf32>, tensor<1x2x4x2xf32>, tensor<1x2x1x2xf32>
  }
}
