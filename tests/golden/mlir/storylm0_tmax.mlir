#map = affine_map<(d0, d1, d2) -> (d0, d1)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map2 = affine_map<(d0, d1, d2) -> (d1, d2)>
#map3 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>
#map4 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d4, d3)>
#map5 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
#map6 = affine_map<(d0, d1, d2, d3) -> (0, 0, 0, 0)>
#map7 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map8 = affine_map<(d0, d1, d2, d3) -> (0, 0, d2, d3)>
#map9 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
module {
  func.func @kina_prefill(%arg0: tensor<1x3xi64> {bufferization.writable = false}, %arg1: tensor<8x4xf32> {bufferization.writable = false}, %arg2: tensor<1x1x3x3xf32> {bufferization.writable = false}, %arg3: tensor<1x1x1x1xf32> {bufferization.writable = false}, %arg4: tensor<4x4xf32> {bufferization.writable = false}, %arg5: tensor<4x4xf32> {bufferization.writable = false}, %arg6: tensor<4x4xf32> {bufferization.writable = false}, %arg7: tensor<4x4xf32> {bufferization.writable = false}, %arg8: tensor<4x8xf32> {bufferization.writable = false}) -> (tensor<1x2x2x3xf32>, tensor<1x2x3x2xf32>, tensor<1x3x8xf32>) attributes {llvm.emit_c_interface} {
    %0 = tensor.empty() : tensor<1x3x4xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0 : tensor<1x3xi64>) outs(%0 : tensor<1x3x4xf32>) {
    ^bb0(%in: i64, %out: f32):
      %c7_i64 = arith.constant 7 : i64
      %57 = arith.minsi %in, %c7_i64 : i64
      %c0_i64 = arith.constant 0 : i64
      %58 = arith.maxsi %57, %c0_i64 : i64
      %59 = arith.index_cast %58 : i64 to index
      %60 = linalg.index 2 : index
      %extracted = tensor.extract %arg1[%59, %60] : tensor<8x4xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x3x4xf32>
    %2 = tensor.empty() : tensor<1x4x4xf32>
    %3 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg4 : tensor<4x4xf32>) outs(%2 : tensor<1x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4x4xf32>
    %cst = arith.constant 0.000000e+00 : f32
    %4 = tensor.empty() : tensor<1x3x4xf32>
    %5 = linalg.fill ins(%cst : f32) outs(%4 : tensor<1x3x4xf32>) -> tensor<1x3x4xf32>
    %6 = linalg.batch_matmul ins(%1, %3 : tensor<1x3x4xf32>, tensor<1x4x4xf32>) outs(%5 : tensor<1x3x4xf32>) -> tensor<1x3x4xf32>
    %7 = tensor.empty() : tensor<1x4x4xf32>
    %8 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg5 : tensor<4x4xf32>) outs(%7 : tensor<1x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4x4xf32>
    %cst_0 = arith.constant 0.000000e+00 : f32
    %9 = tensor.empty() : tensor<1x3x4xf32>
    %10 = linalg.fill ins(%cst_0 : f32) outs(%9 : tensor<1x3x4xf32>) -> tensor<1x3x4xf32>
    %11 = linalg.batch_matmul ins(%1, %8 : tensor<1x3x4xf32>, tensor<1x4x4xf32>) outs(%10 : tensor<1x3x4xf32>) -> tensor<1x3x4xf32>
    %12 = tensor.empty() : tensor<1x4x4xf32>
    %13 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg6 : tensor<4x4xf32>) outs(%12 : tensor<1x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4x4xf32>
    %cst_1 = arith.constant 0.000000e+00 : f32
    %14 = tensor.empty() : tensor<1x3x4xf32>
    %15 = linalg.fill ins(%cst_1 : f32) outs(%14 : tensor<1x3x4xf32>) -> tensor<1x3x4xf32>
    %16 = linalg.batch_matmul ins(%1, %13 : tensor<1x3x4xf32>, tensor<1x4x4xf32>) outs(%15 : tensor<1x3x4xf32>) -> tensor<1x3x4xf32>
    %expanded = tensor.expand_shape %6 [[0], [1], [2, 3]] output_shape [1, 3, 2, 2] : tensor<1x3x4xf32> into tensor<1x3x2x2xf32>
    %17 = tensor.empty() : tensor<1x2x3x2xf32>
    %transposed = linalg.transpose ins(%expanded : tensor<1x3x2x2xf32>) outs(%17 : tensor<1x2x3x2xf32>) permutation = [0, 2, 1, 3] 
    %expanded_2 = tensor.expand_shape %11 [[0], [1], [2, 3]] output_shape [1, 3, 2, 2] : tensor<1x3x4xf32> into tensor<1x3x2x2xf32>
    %18 = tensor.empty() : tensor<1x2x2x3xf32>
    %transposed_3 = linalg.transpose ins(%expanded_2 : tensor<1x3x2x2xf32>) outs(%18 : tensor<1x2x2x3xf32>) permutation = [0, 2, 3, 1] 
    %expanded_4 = tensor.expand_shape %16 [[0], [1], [2, 3]] output_shape [1, 3, 2, 2] : tensor<1x3x4xf32> into tensor<1x3x2x2xf32>
    %19 = tensor.empty() : tensor<1x2x3x2xf32>
    %transposed_5 = linalg.transpose ins(%expanded_4 : tensor<1x3x2x2xf32>) outs(%19 : tensor<1x2x3x2xf32>) permutation = [0, 2, 1, 3] 
    %cst_6 = arith.constant 0.000000e+00 : f32
    %20 = tensor.empty() : tensor<1x2x3x3xf32>
    %21 = linalg.fill ins(%cst_6 : f32) outs(%20 : tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
    %22 = linalg.generic {indexing_maps = [#map3, #map4, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%transposed, %transposed_3 : tensor<1x2x3x2xf32>, tensor<1x2x2x3xf32>) outs(%21 : tensor<1x2x3x3xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %57 = arith.mulf %in, %in_13 : f32
      %58 = arith.addf %out, %57 : f32
      linalg.yield %58 : f32
    } -> tensor<1x2x3x3xf32>
    %23 = tensor.empty() : tensor<1x2x3x3xf32>
    %24 = linalg.generic {indexing_maps = [#map6, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg3 : tensor<1x1x1x1xf32>) outs(%23 : tensor<1x2x3x3xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x2x3x3xf32>
    %25 = tensor.empty() : tensor<1x2x3x3xf32>
    %26 = linalg.generic {indexing_maps = [#map7, #map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%22, %24 : tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) outs(%25 : tensor<1x2x3x3xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %57 = arith.mulf %in, %in_13 : f32
      linalg.yield %57 : f32
    } -> tensor<1x2x3x3xf32>
    %27 = tensor.empty() : tensor<1x2x3x3xf32>
    %28 = linalg.generic {indexing_maps = [#map8, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg2 : tensor<1x1x3x3xf32>) outs(%27 : tensor<1x2x3x3xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x2x3x3xf32>
    %29 = tensor.empty() : tensor<1x2x3x3xf32>
    %30 = linalg.generic {indexing_maps = [#map7, #map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%26, %28 : tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) outs(%29 : tensor<1x2x3x3xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %57 = arith.addf %in, %in_13 : f32
      linalg.yield %57 : f32
    } -> tensor<1x2x3x3xf32>
    %cst_7 = arith.constant 0xFF800000 : f32
    %31 = tensor.empty() : tensor<1x2x3xf32>
    %32 = linalg.fill ins(%cst_7 : f32) outs(%31 : tensor<1x2x3xf32>) -> tensor<1x2x3xf32>
    %33 = linalg.generic {indexing_maps = [#map7, #map9], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%30 : tensor<1x2x3x3xf32>) outs(%32 : tensor<1x2x3xf32>) {
    ^bb0(%in: f32, %out: f32):
      %57 = arith.maximumf %out, %in : f32
      linalg.yield %57 : f32
    } -> tensor<1x2x3xf32>
    %34 = tensor.empty() : tensor<1x2x3x3xf32>
    %35 = linalg.generic {indexing_maps = [#map7, #map9, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%30, %33 : tensor<1x2x3x3xf32>, tensor<1x2x3xf32>) outs(%34 : tensor<1x2x3x3xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %57 = arith.subf %in, %in_13 : f32
      %58 = math.exp %57 : f32
      linalg.yield %58 : f32
    } -> tensor<1x2x3x3xf32>
    %cst_8 = arith.constant 0.000000e+00 : f32
    %36 = tensor.empty() : tensor<1x2x3xf32>
    %37 = linalg.fill ins(%cst_8 : f32) outs(%36 : tensor<1x2x3xf32>) -> tensor<1x2x3xf32>
    %38 = linalg.generic {indexing_maps = [#map7, #map9], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%35 : tensor<1x2x3x3xf32>) outs(%37 : tensor<1x2x3xf32>) {
    ^bb0(%in: f32, %out: f32):
      %57 = arith.addf %out, %in : f32
      linalg.yield %57 : f32
    } -> tensor<1x2x3xf32>
    %39 = tensor.empty() : tensor<1x2x3x3xf32>
    %40 = linalg.generic {indexing_maps = [#map7, #map9, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%35, %38 : tensor<1x2x3x3xf32>, tensor<1x2x3xf32>) outs(%39 : tensor<1x2x3x3xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %57 = arith.divf %in, %in_13 : f32
      linalg.yield %57 : f32
    } -> tensor<1x2x3x3xf32>
    %cst_9 = arith.constant 0.000000e+00 : f32
    %41 = tensor.empty() : tensor<1x2x3x2xf32>
    %42 = linalg.fill ins(%cst_9 : f32) outs(%41 : tensor<1x2x3x2xf32>) -> tensor<1x2x3x2xf32>
    %43 = linalg.generic {indexing_maps = [#map3, #map4, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%40, %transposed_5 : tensor<1x2x3x3xf32>, tensor<1x2x3x2xf32>) outs(%42 : tensor<1x2x3x2xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %57 = arith.mulf %in, %in_13 : f32
      %58 = arith.addf %out, %57 : f32
      linalg.yield %58 : f32
    } -> tensor<1x2x3x2xf32>
    %44 = tensor.empty() : tensor<1x3x2x2xf32>
    %transposed_10 = linalg.transpose ins(%43 : tensor<1x2x3x2xf32>) outs(%44 : tensor<1x3x2x2xf32>) permutation = [0, 2, 1, 3] 
    %collapsed = tensor.collapse_shape %transposed_10 [[0], [1], [2, 3]] : tensor<1x3x2x2xf32> into tensor<1x3x4xf32>
    %45 = tensor.empty() : tensor<1x4x4xf32>
    %46 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg7 : tensor<4x4xf32>) outs(%45 : tensor<1x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4x4xf32>
    %cst_11 = arith.constant 0.000000e+00 : f32
    %47 = tensor.empty() : tensor<1x3x4xf32>
    %48 = linalg.fill ins(%cst_11 : f32) outs(%47 : tensor<1x3x4xf32>) -> tensor<1x3x4xf32>
    %49 = linalg.batch_matmul ins(%collapsed, %46 : tensor<1x3x4xf32>, tensor<1x4x4xf32>) outs(%48 : tensor<1x3x4xf32>) -> tensor<1x3x4xf32>
    %50 = tensor.empty() : tensor<1x3x4xf32>
    %51 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%1, %49 : tensor<1x3x4xf32>, tensor<1x3x4xf32>) outs(%50 : tensor<1x3x4xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %57 = arith.addf %in, %in_13 : f32
      linalg.yield %57 : f32
    } -> tensor<1x3x4xf32>
    %52 = tensor.empty() : tensor<1x4x8xf32>
    %53 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg8 : tensor<4x8xf32>) outs(%52 : tensor<1x4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4x8xf32>
    %cst_12 = arith.constant 0.000000e+00 : f32
    %54 = tensor.empty() : tensor<1x3x8xf32>
    %55 = linalg.fill ins(%cst_12 : f32) outs(%54 : tensor<1x3x8xf32>) -> tensor<1x3x8xf32>
    %56 = linalg.batch_matmul ins(%51, %53 : tensor<1x3x4xf32>, tensor<1x4x8xf32>) outs(%55 : tensor<1x3x8xf32>) -> tensor<1x3x8xf32>
    return %transposed_3, %transposed_5, %56 : tensor<1x2x2x3xf32>, tensor<1x2x3x2xf32>, tensor<1x3x8xf32>
  }
  func.func @kina_last_logits(%arg0: tensor<1x3x8xf32> {bufferization.writable = false}) -> tensor<1x1x8xf32> attributes {llvm.emit_c_interface} {
    %extracted_slice = tensor.extract_slice %arg0[0, 2, 0] [1, 1, 8] [1, 1, 1] : tensor<1x3x8xf32> to tensor<1x1x8xf32>
    return %extracted_slice : tensor<1x1x8xf32>
  }
  func.func @kina_greedy_one(%arg0: tensor<1x1x8xf32> {bufferization.writable = false}) -> tensor<1x1xi64> attributes {llvm.emit_c_interface} {
    %cst = arith.constant 0xFF800000 : f32
    %0 = tensor.empty() : tensor<1x1xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<1x1xf32>) -> tensor<1x1xf32>
    %c0_i64 = arith.constant 0 : i64
    %2 = tensor.empty() : tensor<1x1xi64>
    %3 = linalg.fill ins(%c0_i64 : i64) outs(%2 : tensor<1x1xi64>) -> tensor<1x1xi64>
    %4:2 = linalg.generic {indexing_maps = [#map1, #map, #map], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0 : tensor<1x1x8xf32>) outs(%1, %3 : tensor<1x1xf32>, tensor<1x1xi64>) {
    ^bb0(%in: f32, %out: f32, %out_0: i64):
      %5 = arith.cmpf ugt, %in, %out : f32
      %6 = arith.cmpf ord, %out, %out : f32
      %7 = arith.andi %5, %6 : i1
      %8 = linalg.index 2 : index
      %9 = arith.index_cast %8 : index to i64
      %10 = arith.select %7, %in, %out : f32
      %11 = arith.select %7, %9, %out_0 : i64
      linalg.yield %10, %11 : f32, i64
    } -> (tensor<1x1xf32>, tensor<1x1xi64>)
    return %4#1 : tensor<1x1xi64>
  }
  func.func @kina_decode_s3(%arg0: tensor<1x1xi64> {bufferization.writable = false}, %arg1: tensor<8x4xf32> {bufferization.writable = false}, %arg2: tensor<1x2x2x3xf32> {bufferization.writable = false}, %arg3: tensor<1x2x3x2xf32> {bufferization.writable = false}, %arg4: tensor<1x1x1x1xf32> {bufferization.writable = false}, %arg5: tensor<4x4xf32> {bufferization.writable = false}, %arg6: tensor<4x4xf32> {bufferization.writable = false}, %arg7: tensor<4x4xf32> {bufferization.writable = false}, %arg8: tensor<4x4xf32> {bufferization.writable = false}, %arg9: tensor<4x8xf32> {bufferization.writable = false}) -> (tensor<1x2x2x4xf32>, tensor<1x2x4x2xf32>, tensor<1x1x8xf32>) attributes {llvm.emit_c_interface} {
    %0 = tensor.empty() : tensor<1x1x4xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0 : tensor<1x1xi64>) outs(%0 : tensor<1x1x4xf32>) {
    ^bb0(%in: i64, %out: f32):
      %c7_i64 = arith.constant 7 : i64
      %55 = arith.minsi %in, %c7_i64 : i64
      %c0_i64 = arith.constant 0 : i64
      %56 = arith.maxsi %55, %c0_i64 : i64
      %57 = arith.index_cast %56 : i64 to index
      %58 = linalg.index 2 : index
      %extracted = tensor.extract %arg1[%57, %58] : tensor<8x4xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x1x4xf32>
    %2 = tensor.empty() : tensor<1x4x4xf32>
    %3 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg5 : tensor<4x4xf32>) outs(%2 : tensor<1x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4x4xf32>
    %cst = arith.constant 0.000000e+00 : f32
    %4 = tensor.empty() : tensor<1x1x4xf32>
    %5 = linalg.fill ins(%cst : f32) outs(%4 : tensor<1x1x4xf32>) -> tensor<1x1x4xf32>
    %6 = linalg.batch_matmul ins(%1, %3 : tensor<1x1x4xf32>, tensor<1x4x4xf32>) outs(%5 : tensor<1x1x4xf32>) -> tensor<1x1x4xf32>
    %7 = tensor.empty() : tensor<1x4x4xf32>
    %8 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg6 : tensor<4x4xf32>) outs(%7 : tensor<1x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4x4xf32>
    %cst_0 = arith.constant 0.000000e+00 : f32
    %9 = tensor.empty() : tensor<1x1x4xf32>
    %10 = linalg.fill ins(%cst_0 : f32) outs(%9 : tensor<1x1x4xf32>) -> tensor<1x1x4xf32>
    %11 = linalg.batch_matmul ins(%1, %8 : tensor<1x1x4xf32>, tensor<1x4x4xf32>) outs(%10 : tensor<1x1x4xf32>) -> tensor<1x1x4xf32>
    %12 = tensor.empty() : tensor<1x4x4xf32>
    %13 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg7 : tensor<4x4xf32>) outs(%12 : tensor<1x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4x4xf32>
    %cst_1 = arith.constant 0.000000e+00 : f32
    %14 = tensor.empty() : tensor<1x1x4xf32>
    %15 = linalg.fill ins(%cst_1 : f32) outs(%14 : tensor<1x1x4xf32>) -> tensor<1x1x4xf32>
    %16 = linalg.batch_matmul ins(%1, %13 : tensor<1x1x4xf32>, tensor<1x4x4xf32>) outs(%15 : tensor<1x1x4xf32>) -> tensor<1x1x4xf32>
    %collapsed = tensor.collapse_shape %6 [[0, 1], [2]] : tensor<1x1x4xf32> into tensor<1x4xf32>
    %expanded = tensor.expand_shape %collapsed [[0, 1], [2, 3]] output_shape [1, 1, 2, 2] : tensor<1x4xf32> into tensor<1x1x2x2xf32>
    %17 = tensor.empty() : tensor<1x2x1x2xf32>
    %transposed = linalg.transpose ins(%expanded : tensor<1x1x2x2xf32>) outs(%17 : tensor<1x2x1x2xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_2 = tensor.collapse_shape %11 [[0, 1], [2]] : tensor<1x1x4xf32> into tensor<1x4xf32>
    %expanded_3 = tensor.expand_shape %collapsed_2 [[0, 1], [2, 3]] output_shape [1, 1, 2, 2] : tensor<1x4xf32> into tensor<1x1x2x2xf32>
    %18 = tensor.empty() : tensor<1x2x2x1xf32>
    %transposed_4 = linalg.transpose ins(%expanded_3 : tensor<1x1x2x2xf32>) outs(%18 : tensor<1x2x2x1xf32>) permutation = [0, 2, 3, 1] 
    %collapsed_5 = tensor.collapse_shape %16 [[0, 1], [2]] : tensor<1x1x4xf32> into tensor<1x4xf32>
    %expanded_6 = tensor.expand_shape %collapsed_5 [[0, 1], [2, 3]] output_shape [1, 1, 2, 2] : tensor<1x4xf32> into tensor<1x1x2x2xf32>
    %19 = tensor.empty() : tensor<1x2x1x2xf32>
    %transposed_7 = linalg.transpose ins(%expanded_6 : tensor<1x1x2x2xf32>) outs(%19 : tensor<1x2x1x2xf32>) permutation = [0, 2, 1, 3] 
    %20 = tensor.empty() : tensor<1x2x2x4xf32>
    %inserted_slice = tensor.insert_slice %arg2 into %20[0, 0, 0, 0] [1, 2, 2, 3] [1, 1, 1, 1] : tensor<1x2x2x3xf32> into tensor<1x2x2x4xf32>
    %inserted_slice_8 = tensor.insert_slice %transposed_4 into %inserted_slice[0, 0, 0, 3] [1, 2, 2, 1] [1, 1, 1, 1] : tensor<1x2x2x1xf32> into tensor<1x2x2x4xf32>
    %21 = tensor.empty() : tensor<1x2x4x2xf32>
    %inserted_slice_9 = tensor.insert_slice %arg3 into %21[0, 0, 0, 0] [1, 2, 3, 2] [1, 1, 1, 1] : tensor<1x2x3x2xf32> into tensor<1x2x4x2xf32>
    %inserted_slice_10 = tensor.insert_slice %transposed_7 into %inserted_slice_9[0, 0, 3, 0] [1, 2, 1, 2] [1, 1, 1, 1] : tensor<1x2x1x2xf32> into tensor<1x2x4x2xf32>
    %cst_11 = arith.constant 0.000000e+00 : f32
    %22 = tensor.empty() : tensor<1x2x1x4xf32>
    %23 = linalg.fill ins(%cst_11 : f32) outs(%22 : tensor<1x2x1x4xf32>) -> tensor<1x2x1x4xf32>
    %24 = linalg.generic {indexing_maps = [#map3, #map4, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%transposed, %inserted_slice_8 : tensor<1x2x1x2xf32>, tensor<1x2x2x4xf32>) outs(%23 : tensor<1x2x1x4xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %55 = arith.mulf %in, %in_20 : f32
      %56 = arith.addf %out, %55 : f32
      linalg.yield %56 : f32
    } -> tensor<1x2x1x4xf32>
    %25 = tensor.empty() : tensor<1x2x1x4xf32>
    %26 = linalg.generic {indexing_maps = [#map6, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg4 : tensor<1x1x1x1xf32>) outs(%25 : tensor<1x2x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x2x1x4xf32>
    %27 = tensor.empty() : tensor<1x2x1x4xf32>
    %28 = linalg.generic {indexing_maps = [#map7, #map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%24, %26 : tensor<1x2x1x4xf32>, tensor<1x2x1x4xf32>) outs(%27 : tensor<1x2x1x4xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %55 = arith.mulf %in, %in_20 : f32
      linalg.yield %55 : f32
    } -> tensor<1x2x1x4xf32>
    %cst_12 = arith.constant 0xFF800000 : f32
    %29 = tensor.empty() : tensor<1x2x1xf32>
    %30 = linalg.fill ins(%cst_12 : f32) outs(%29 : tensor<1x2x1xf32>) -> tensor<1x2x1xf32>
    %31 = linalg.generic {indexing_maps = [#map7, #map9], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%28 : tensor<1x2x1x4xf32>) outs(%30 : tensor<1x2x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %55 = arith.maximumf %out, %in : f32
      linalg.yield %55 : f32
    } -> tensor<1x2x1xf32>
    %32 = tensor.empty() : tensor<1x2x1x4xf32>
    %33 = linalg.generic {indexing_maps = [#map7, #map9, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%28, %31 : tensor<1x2x1x4xf32>, tensor<1x2x1xf32>) outs(%32 : tensor<1x2x1x4xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %55 = arith.subf %in, %in_20 : f32
      %56 = math.exp %55 : f32
      linalg.yield %56 : f32
    } -> tensor<1x2x1x4xf32>
    %cst_13 = arith.constant 0.000000e+00 : f32
    %34 = tensor.empty() : tensor<1x2x1xf32>
    %35 = linalg.fill ins(%cst_13 : f32) outs(%34 : tensor<1x2x1xf32>) -> tensor<1x2x1xf32>
    %36 = linalg.generic {indexing_maps = [#map7, #map9], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%33 : tensor<1x2x1x4xf32>) outs(%35 : tensor<1x2x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %55 = arith.addf %out, %in : f32
      linalg.yield %55 : f32
    } -> tensor<1x2x1xf32>
    %37 = tensor.empty() : tensor<1x2x1x4xf32>
    %38 = linalg.generic {indexing_maps = [#map7, #map9, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%33, %36 : tensor<1x2x1x4xf32>, tensor<1x2x1xf32>) outs(%37 : tensor<1x2x1x4xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %55 = arith.divf %in, %in_20 : f32
      linalg.yield %55 : f32
    } -> tensor<1x2x1x4xf32>
    %cst_14 = arith.constant 0.000000e+00 : f32
    %39 = tensor.empty() : tensor<1x2x1x2xf32>
    %40 = linalg.fill ins(%cst_14 : f32) outs(%39 : tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %41 = linalg.generic {indexing_maps = [#map3, #map4, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%38, %inserted_slice_10 : tensor<1x2x1x4xf32>, tensor<1x2x4x2xf32>) outs(%40 : tensor<1x2x1x2xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %55 = arith.mulf %in, %in_20 : f32
      %56 = arith.addf %out, %55 : f32
      linalg.yield %56 : f32
    } -> tensor<1x2x1x2xf32>
    %42 = tensor.empty() : tensor<1x1x2x2xf32>
    %transposed_15 = linalg.transpose ins(%41 : tensor<1x2x1x2xf32>) outs(%42 : tensor<1x1x2x2xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_16 = tensor.collapse_shape %transposed_15 [[0, 1], [2, 3]] : tensor<1x1x2x2xf32> into tensor<1x4xf32>
    %expanded_17 = tensor.expand_shape %collapsed_16 [[0, 1], [2]] output_shape [1, 1, 4] : tensor<1x4xf32> into tensor<1x1x4xf32>
    %43 = tensor.empty() : tensor<1x4x4xf32>
    %44 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg8 : tensor<4x4xf32>) outs(%43 : tensor<1x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4x4xf32>
    %cst_18 = arith.constant 0.000000e+00 : f32
    %45 = tensor.empty() : tensor<1x1x4xf32>
    %46 = linalg.fill ins(%cst_18 : f32) outs(%45 : tensor<1x1x4xf32>) -> tensor<1x1x4xf32>
    %47 = linalg.batch_matmul ins(%expanded_17, %44 : tensor<1x1x4xf32>, tensor<1x4x4xf32>) outs(%46 : tensor<1x1x4xf32>) -> tensor<1x1x4xf32>
    %48 = tensor.empty() : tensor<1x1x4xf32>
    %49 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%1, %47 : tensor<1x1x4xf32>, tensor<1x1x4xf32>) outs(%48 : tensor<1x1x4xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %55 = arith.addf %in, %in_20 : f32
      linalg.yield %55 : f32
    } -> tensor<1x1x4xf32>
    %50 = tensor.empty() : tensor<1x4x8xf32>
    %51 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg9 : tensor<4x8xf32>) outs(%50 : tensor<1x4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4x8xf32>
    %cst_19 = arith.constant 0.000000e+00 : f32
    %52 = tensor.empty() : tensor<1x1x8xf32>
    %53 = linalg.fill ins(%cst_19 : f32) outs(%52 : tensor<1x1x8xf32>) -> tensor<1x1x8xf32>
    %54 = linalg.batch_matmul ins(%49, %51 : tensor<1x1x4xf32>, tensor<1x4x8xf32>) outs(%53 : tensor<1x1x8xf32>) -> tensor<1x1x8xf32>
    return %inserted_slice_8, %inserted_slice_10, %54 : tensor<1x2x2x4xf32>, tensor<1x2x4x2xf32>, tensor<1x1x8xf32>
  }
  func.func @kina_decode_s4(%arg0: tensor<1x1xi64> {bufferization.writable = false}, %arg1: tensor<8x4xf32> {bufferization.writable = false}, %arg2: tensor<1x2x2x4xf32> {bufferization.writable = false}, %arg3: tensor<1x2x4x2xf32> {bufferization.writable = false}, %arg4: tensor<1x1x1x1xf32> {bufferization.writable = false}, %arg5: tensor<4x4xf32> {bufferization.writable = false}, %arg6: tensor<4x4xf32> {bufferization.writable = false}, %arg7: tensor<4x4xf32> {bufferization.writable = false}, %arg8: tensor<4x4xf32> {bufferization.writable = false}, %arg9: tensor<4x8xf32> {bufferization.writable = false}) -> (tensor<1x2x2x5xf32>, tensor<1x2x5x2xf32>, tensor<1x1x8xf32>) attributes {llvm.emit_c_interface} {
    %0 = tensor.empty() : tensor<1x1x4xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0 : tensor<1x1xi64>) outs(%0 : tensor<1x1x4xf32>) {
    ^bb0(%in: i64, %out: f32):
      %c7_i64 = arith.constant 7 : i64
      %55 = arith.minsi %in, %c7_i64 : i64
      %c0_i64 = arith.constant 0 : i64
      %56 = arith.maxsi %55, %c0_i64 : i64
      %57 = arith.index_cast %56 : i64 to index
      %58 = linalg.index 2 : index
      %extracted = tensor.extract %arg1[%57, %58] : tensor<8x4xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x1x4xf32>
    %2 = tensor.empty() : tensor<1x4x4xf32>
    %3 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg5 : tensor<4x4xf32>) outs(%2 : tensor<1x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4x4xf32>
    %cst = arith.constant 0.000000e+00 : f32
    %4 = tensor.empty() : tensor<1x1x4xf32>
    %5 = linalg.fill ins(%cst : f32) outs(%4 : tensor<1x1x4xf32>) -> tensor<1x1x4xf32>
    %6 = linalg.batch_matmul ins(%1, %3 : tensor<1x1x4xf32>, tensor<1x4x4xf32>) outs(%5 : tensor<1x1x4xf32>) -> tensor<1x1x4xf32>
    %7 = tensor.empty() : tensor<1x4x4xf32>
    %8 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg6 : tensor<4x4xf32>) outs(%7 : tensor<1x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4x4xf32>
    %cst_0 = arith.constant 0.000000e+00 : f32
    %9 = tensor.empty() : tensor<1x1x4xf32>
    %10 = linalg.fill ins(%cst_0 : f32) outs(%9 : tensor<1x1x4xf32>) -> tensor<1x1x4xf32>
    %11 = linalg.batch_matmul ins(%1, %8 : tensor<1x1x4xf32>, tensor<1x4x4xf32>) outs(%10 : tensor<1x1x4xf32>) -> tensor<1x1x4xf32>
    %12 = tensor.empty() : tensor<1x4x4xf32>
    %13 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg7 : tensor<4x4xf32>) outs(%12 : tensor<1x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4x4xf32>
    %cst_1 = arith.constant 0.000000e+00 : f32
    %14 = tensor.empty() : tensor<1x1x4xf32>
    %15 = linalg.fill ins(%cst_1 : f32) outs(%14 : tensor<1x1x4xf32>) -> tensor<1x1x4xf32>
    %16 = linalg.batch_matmul ins(%1, %13 : tensor<1x1x4xf32>, tensor<1x4x4xf32>) outs(%15 : tensor<1x1x4xf32>) -> tensor<1x1x4xf32>
    %collapsed = tensor.collapse_shape %6 [[0, 1], [2]] : tensor<1x1x4xf32> into tensor<1x4xf32>
    %expanded = tensor.expand_shape %collapsed [[0, 1], [2, 3]] output_shape [1, 1, 2, 2] : tensor<1x4xf32> into tensor<1x1x2x2xf32>
    %17 = tensor.empty() : tensor<1x2x1x2xf32>
    %transposed = linalg.transpose ins(%expanded : tensor<1x1x2x2xf32>) outs(%17 : tensor<1x2x1x2xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_2 = tensor.collapse_shape %11 [[0, 1], [2]] : tensor<1x1x4xf32> into tensor<1x4xf32>
    %expanded_3 = tensor.expand_shape %collapsed_2 [[0, 1], [2, 3]] output_shape [1, 1, 2, 2] : tensor<1x4xf32> into tensor<1x1x2x2xf32>
    %18 = tensor.empty() : tensor<1x2x2x1xf32>
    %transposed_4 = linalg.transpose ins(%expanded_3 : tensor<1x1x2x2xf32>) outs(%18 : tensor<1x2x2x1xf32>) permutation = [0, 2, 3, 1] 
    %collapsed_5 = tensor.collapse_shape %16 [[0, 1], [2]] : tensor<1x1x4xf32> into tensor<1x4xf32>
    %expanded_6 = tensor.expand_shape %collapsed_5 [[0, 1], [2, 3]] output_shape [1, 1, 2, 2] : tensor<1x4xf32> into tensor<1x1x2x2xf32>
    %19 = tensor.empty() : tensor<1x2x1x2xf32>
    %transposed_7 = linalg.transpose ins(%expanded_6 : tensor<1x1x2x2xf32>) outs(%19 : tensor<1x2x1x2xf32>) permutation = [0, 2, 1, 3] 
    %20 = tensor.empty() : tensor<1x2x2x5xf32>
    %inserted_slice = tensor.insert_slice %arg2 into %20[0, 0, 0, 0] [1, 2, 2, 4] [1, 1, 1, 1] : tensor<1x2x2x4xf32> into tensor<1x2x2x5xf32>
    %inserted_slice_8 = tensor.insert_slice %transposed_4 into %inserted_slice[0, 0, 0, 4] [1, 2, 2, 1] [1, 1, 1, 1] : tensor<1x2x2x1xf32> into tensor<1x2x2x5xf32>
    %21 = tensor.empty() : tensor<1x2x5x2xf32>
    %inserted_slice_9 = tensor.insert_slice %arg3 into %21[0, 0, 0, 0] [1, 2, 4, 2] [1, 1, 1, 1] : tensor<1x2x4x2xf32> into tensor<1x2x5x2xf32>
    %inserted_slice_10 = tensor.insert_slice %transposed_7 into %inserted_slice_9[0, 0, 4, 0] [1, 2, 1, 2] [1, 1, 1, 1] : tensor<1x2x1x2xf32> into tensor<1x2x5x2xf32>
    %cst_11 = arith.constant 0.000000e+00 : f32
    %22 = tensor.empty() : tensor<1x2x1x5xf32>
    %23 = linalg.fill ins(%cst_11 : f32) outs(%22 : tensor<1x2x1x5xf32>) -> tensor<1x2x1x5xf32>
    %24 = linalg.generic {indexing_maps = [#map3, #map4, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%transposed, %inserted_slice_8 : tensor<1x2x1x2xf32>, tensor<1x2x2x5xf32>) outs(%23 : tensor<1x2x1x5xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %55 = arith.mulf %in, %in_20 : f32
      %56 = arith.addf %out, %55 : f32
      linalg.yield %56 : f32
    } -> tensor<1x2x1x5xf32>
    %25 = tensor.empty() : tensor<1x2x1x5xf32>
    %26 = linalg.generic {indexing_maps = [#map6, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg4 : tensor<1x1x1x1xf32>) outs(%25 : tensor<1x2x1x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x2x1x5xf32>
    %27 = tensor.empty() : tensor<1x2x1x5xf32>
    %28 = linalg.generic {indexing_maps = [#map7, #map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%24, %26 : tensor<1x2x1x5xf32>, tensor<1x2x1x5xf32>) outs(%27 : tensor<1x2x1x5xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %55 = arith.mulf %in, %in_20 : f32
      linalg.yield %55 : f32
    } -> tensor<1x2x1x5xf32>
    %cst_12 = arith.constant 0xFF800000 : f32
    %29 = tensor.empty() : tensor<1x2x1xf32>
    %30 = linalg.fill ins(%cst_12 : f32) outs(%29 : tensor<1x2x1xf32>) -> tensor<1x2x1xf32>
    %31 = linalg.generic {indexing_maps = [#map7, #map9], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%28 : tensor<1x2x1x5xf32>) outs(%30 : tensor<1x2x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %55 = arith.maximumf %out, %in : f32
      linalg.yield %55 : f32
    } -> tensor<1x2x1xf32>
    %32 = tensor.empty() : tensor<1x2x1x5xf32>
    %33 = linalg.generic {indexing_maps = [#map7, #map9, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%28, %31 : tensor<1x2x1x5xf32>, tensor<1x2x1xf32>) outs(%32 : tensor<1x2x1x5xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %55 = arith.subf %in, %in_20 : f32
      %56 = math.exp %55 : f32
      linalg.yield %56 : f32
    } -> tensor<1x2x1x5xf32>
    %cst_13 = arith.constant 0.000000e+00 : f32
    %34 = tensor.empty() : tensor<1x2x1xf32>
    %35 = linalg.fill ins(%cst_13 : f32) outs(%34 : tensor<1x2x1xf32>) -> tensor<1x2x1xf32>
    %36 = linalg.generic {indexing_maps = [#map7, #map9], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%33 : tensor<1x2x1x5xf32>) outs(%35 : tensor<1x2x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %55 = arith.addf %out, %in : f32
      linalg.yield %55 : f32
    } -> tensor<1x2x1xf32>
    %37 = tensor.empty() : tensor<1x2x1x5xf32>
    %38 = linalg.generic {indexing_maps = [#map7, #map9, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%33, %36 : tensor<1x2x1x5xf32>, tensor<1x2x1xf32>) outs(%37 : tensor<1x2x1x5xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %55 = arith.divf %in, %in_20 : f32
      linalg.yield %55 : f32
    } -> tensor<1x2x1x5xf32>
    %cst_14 = arith.constant 0.000000e+00 : f32
    %39 = tensor.empty() : tensor<1x2x1x2xf32>
    %40 = linalg.fill ins(%cst_14 : f32) outs(%39 : tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %41 = linalg.generic {indexing_maps = [#map3, #map4, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%38, %inserted_slice_10 : tensor<1x2x1x5xf32>, tensor<1x2x5x2xf32>) outs(%40 : tensor<1x2x1x2xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %55 = arith.mulf %in, %in_20 : f32
      %56 = arith.addf %out, %55 : f32
      linalg.yield %56 : f32
    } -> tensor<1x2x1x2xf32>
    %42 = tensor.empty() : tensor<1x1x2x2xf32>
    %transposed_15 = linalg.transpose ins(%41 : tensor<1x2x1x2xf32>) outs(%42 : tensor<1x1x2x2xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_16 = tensor.collapse_shape %transposed_15 [[0, 1], [2, 3]] : tensor<1x1x2x2xf32> into tensor<1x4xf32>
    %expanded_17 = tensor.expand_shape %collapsed_16 [[0, 1], [2]] output_shape [1, 1, 4] : tensor<1x4xf32> into tensor<1x1x4xf32>
    %43 = tensor.empty() : tensor<1x4x4xf32>
    %44 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg8 : tensor<4x4xf32>) outs(%43 : tensor<1x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4x4xf32>
    %cst_18 = arith.constant 0.000000e+00 : f32
    %45 = tensor.empty() : tensor<1x1x4xf32>
    %46 = linalg.fill ins(%cst_18 : f32) outs(%45 : tensor<1x1x4xf32>) -> tensor<1x1x4xf32>
    %47 = linalg.batch_matmul ins(%expanded_17, %44 : tensor<1x1x4xf32>, tensor<1x4x4xf32>) outs(%46 : tensor<1x1x4xf32>) -> tensor<1x1x4xf32>
    %48 = tensor.empty() : tensor<1x1x4xf32>
    %49 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%1, %47 : tensor<1x1x4xf32>, tensor<1x1x4xf32>) outs(%48 : tensor<1x1x4xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %55 = arith.addf %in, %in_20 : f32
      linalg.yield %55 : f32
    } -> tensor<1x1x4xf32>
    %50 = tensor.empty() : tensor<1x4x8xf32>
    %51 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg9 : tensor<4x8xf32>) outs(%50 : tensor<1x4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4x8xf32>
    %cst_19 = arith.constant 0.000000e+00 : f32
    %52 = tensor.empty() : tensor<1x1x8xf32>
    %53 = linalg.fill ins(%cst_19 : f32) outs(%52 : tensor<1x1x8xf32>) -> tensor<1x1x8xf32>
    %54 = linalg.batch_matmul ins(%49, %51 : tensor<1x1x4xf32>, tensor<1x4x8xf32>) outs(%53 : tensor<1x1x8xf32>) -> tensor<1x1x8xf32>
    return %inserted_slice_8, %inserted_slice_10, %54 : tensor<1x2x2x5xf32>, tensor<1x2x5x2xf32>, tensor<1x1x8xf32>
  }
  func.func @kina_to_buffers(%arg0: tensor<1x2x2x3xf32> {bufferization.writable = false}, %arg1: tensor<1x2x3x2xf32> {bufferization.writable = false}) -> (tensor<1x2x2x5xf32>, tensor<1x2x5x2xf32>) attributes {llvm.emit_c_interface} {
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<1x2x2x5xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<1x2x2x5xf32>) -> tensor<1x2x2x5xf32>
    %inserted_slice = tensor.insert_slice %arg0 into %1[0, 0, 0, 0] [1, 2, 2, 3] [1, 1, 1, 1] : tensor<1x2x2x3xf32> into tensor<1x2x2x5xf32>
    %cst_0 = arith.constant 0.000000e+00 : f32
    %2 = tensor.empty() : tensor<1x2x5x2xf32>
    %3 = linalg.fill ins(%cst_0 : f32) outs(%2 : tensor<1x2x5x2xf32>) -> tensor<1x2x5x2xf32>
    %inserted_slice_1 = tensor.insert_slice %arg1 into %3[0, 0, 0, 0] [1, 2, 3, 2] [1, 1, 1, 1] : tensor<1x2x3x2xf32> into tensor<1x2x5x2xf32>
    return %inserted_slice, %inserted_slice_1 : tensor<1x2x2x5xf32>, tensor<1x2x5x2xf32>
  }
  func.func @kina_tmax_s3(%arg0: tensor<1x1xi64> {bufferization.writable = false}, %arg1: tensor<8x4xf32> {bufferization.writable = false}, %arg2: tensor<1x2x2x5xf32> {bufferization.writable = false}, %arg3: tensor<1x2x5x2xf32> {bufferization.writable = false}, %arg4: tensor<1x1x1x1xf32> {bufferization.writable = false}, %arg5: tensor<4x4xf32> {bufferization.writable = false}, %arg6: tensor<4x4xf32> {bufferization.writable = false}, %arg7: tensor<4x4xf32> {bufferization.writable = false}, %arg8: tensor<4x4xf32> {bufferization.writable = false}, %arg9: tensor<4x8xf32> {bufferization.writable = false}) -> (tensor<1x2x2x5xf32>, tensor<1x2x5x2xf32>, tensor<1x1x8xf32>) attributes {llvm.emit_c_interface} {
    %0 = tensor.empty() : tensor<1x1x4xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0 : tensor<1x1xi64>) outs(%0 : tensor<1x1x4xf32>) {
    ^bb0(%in: i64, %out: f32):
      %c7_i64 = arith.constant 7 : i64
      %59 = arith.minsi %in, %c7_i64 : i64
      %c0_i64 = arith.constant 0 : i64
      %60 = arith.maxsi %59, %c0_i64 : i64
      %61 = arith.index_cast %60 : i64 to index
      %62 = linalg.index 2 : index
      %extracted = tensor.extract %arg1[%61, %62] : tensor<8x4xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x1x4xf32>
    %2 = tensor.empty() : tensor<1x4x4xf32>
    %3 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg5 : tensor<4x4xf32>) outs(%2 : tensor<1x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4x4xf32>
    %cst = arith.constant 0.000000e+00 : f32
    %4 = tensor.empty() : tensor<1x1x4xf32>
    %5 = linalg.fill ins(%cst : f32) outs(%4 : tensor<1x1x4xf32>) -> tensor<1x1x4xf32>
    %6 = linalg.batch_matmul ins(%1, %3 : tensor<1x1x4xf32>, tensor<1x4x4xf32>) outs(%5 : tensor<1x1x4xf32>) -> tensor<1x1x4xf32>
    %7 = tensor.empty() : tensor<1x4x4xf32>
    %8 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg6 : tensor<4x4xf32>) outs(%7 : tensor<1x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4x4xf32>
    %cst_0 = arith.constant 0.000000e+00 : f32
    %9 = tensor.empty() : tensor<1x1x4xf32>
    %10 = linalg.fill ins(%cst_0 : f32) outs(%9 : tensor<1x1x4xf32>) -> tensor<1x1x4xf32>
    %11 = linalg.batch_matmul ins(%1, %8 : tensor<1x1x4xf32>, tensor<1x4x4xf32>) outs(%10 : tensor<1x1x4xf32>) -> tensor<1x1x4xf32>
    %12 = tensor.empty() : tensor<1x4x4xf32>
    %13 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg7 : tensor<4x4xf32>) outs(%12 : tensor<1x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4x4xf32>
    %cst_1 = arith.constant 0.000000e+00 : f32
    %14 = tensor.empty() : tensor<1x1x4xf32>
    %15 = linalg.fill ins(%cst_1 : f32) outs(%14 : tensor<1x1x4xf32>) -> tensor<1x1x4xf32>
    %16 = linalg.batch_matmul ins(%1, %13 : tensor<1x1x4xf32>, tensor<1x4x4xf32>) outs(%15 : tensor<1x1x4xf32>) -> tensor<1x1x4xf32>
    %collapsed = tensor.collapse_shape %6 [[0, 1], [2]] : tensor<1x1x4xf32> into tensor<1x4xf32>
    %expanded = tensor.expand_shape %collapsed [[0, 1], [2, 3]] output_shape [1, 1, 2, 2] : tensor<1x4xf32> into tensor<1x1x2x2xf32>
    %17 = tensor.empty() : tensor<1x2x1x2xf32>
    %transposed = linalg.transpose ins(%expanded : tensor<1x1x2x2xf32>) outs(%17 : tensor<1x2x1x2xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_2 = tensor.collapse_shape %11 [[0, 1], [2]] : tensor<1x1x4xf32> into tensor<1x4xf32>
    %expanded_3 = tensor.expand_shape %collapsed_2 [[0, 1], [2, 3]] output_shape [1, 1, 2, 2] : tensor<1x4xf32> into tensor<1x1x2x2xf32>
    %18 = tensor.empty() : tensor<1x2x2x1xf32>
    %transposed_4 = linalg.transpose ins(%expanded_3 : tensor<1x1x2x2xf32>) outs(%18 : tensor<1x2x2x1xf32>) permutation = [0, 2, 3, 1] 
    %collapsed_5 = tensor.collapse_shape %16 [[0, 1], [2]] : tensor<1x1x4xf32> into tensor<1x4xf32>
    %expanded_6 = tensor.expand_shape %collapsed_5 [[0, 1], [2, 3]] output_shape [1, 1, 2, 2] : tensor<1x4xf32> into tensor<1x1x2x2xf32>
    %19 = tensor.empty() : tensor<1x2x1x2xf32>
    %transposed_7 = linalg.transpose ins(%expanded_6 : tensor<1x1x2x2xf32>) outs(%19 : tensor<1x2x1x2xf32>) permutation = [0, 2, 1, 3] 
    %extracted_slice = tensor.extract_slice %arg2[0, 0, 0, 0] [1, 2, 2, 3] [1, 1, 1, 1] : tensor<1x2x2x5xf32> to tensor<1x2x2x3xf32>
    %extracted_slice_8 = tensor.extract_slice %arg3[0, 0, 0, 0] [1, 2, 3, 2] [1, 1, 1, 1] : tensor<1x2x5x2xf32> to tensor<1x2x3x2xf32>
    %20 = tensor.empty() : tensor<1x2x2x4xf32>
    %inserted_slice = tensor.insert_slice %extracted_slice into %20[0, 0, 0, 0] [1, 2, 2, 3] [1, 1, 1, 1] : tensor<1x2x2x3xf32> into tensor<1x2x2x4xf32>
    %inserted_slice_9 = tensor.insert_slice %transposed_4 into %inserted_slice[0, 0, 0, 3] [1, 2, 2, 1] [1, 1, 1, 1] : tensor<1x2x2x1xf32> into tensor<1x2x2x4xf32>
    %21 = tensor.empty() : tensor<1x2x4x2xf32>
    %inserted_slice_10 = tensor.insert_slice %extracted_slice_8 into %21[0, 0, 0, 0] [1, 2, 3, 2] [1, 1, 1, 1] : tensor<1x2x3x2xf32> into tensor<1x2x4x2xf32>
    %inserted_slice_11 = tensor.insert_slice %transposed_7 into %inserted_slice_10[0, 0, 3, 0] [1, 2, 1, 2] [1, 1, 1, 1] : tensor<1x2x1x2xf32> into tensor<1x2x4x2xf32>
    %cst_12 = arith.constant 0.000000e+00 : f32
    %22 = tensor.empty() : tensor<1x2x1x4xf32>
    %23 = linalg.fill ins(%cst_12 : f32) outs(%22 : tensor<1x2x1x4xf32>) -> tensor<1x2x1x4xf32>
    %24 = linalg.generic {indexing_maps = [#map3, #map4, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%transposed, %inserted_slice_9 : tensor<1x2x1x2xf32>, tensor<1x2x2x4xf32>) outs(%23 : tensor<1x2x1x4xf32>) {
    ^bb0(%in: f32, %in_25: f32, %out: f32):
      %59 = arith.mulf %in, %in_25 : f32
      %60 = arith.addf %out, %59 : f32
      linalg.yield %60 : f32
    } -> tensor<1x2x1x4xf32>
    %25 = tensor.empty() : tensor<1x2x1x4xf32>
    %26 = linalg.generic {indexing_maps = [#map6, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg4 : tensor<1x1x1x1xf32>) outs(%25 : tensor<1x2x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x2x1x4xf32>
    %27 = tensor.empty() : tensor<1x2x1x4xf32>
    %28 = linalg.generic {indexing_maps = [#map7, #map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%24, %26 : tensor<1x2x1x4xf32>, tensor<1x2x1x4xf32>) outs(%27 : tensor<1x2x1x4xf32>) {
    ^bb0(%in: f32, %in_25: f32, %out: f32):
      %59 = arith.mulf %in, %in_25 : f32
      linalg.yield %59 : f32
    } -> tensor<1x2x1x4xf32>
    %cst_13 = arith.constant 0xFF800000 : f32
    %29 = tensor.empty() : tensor<1x2x1xf32>
    %30 = linalg.fill ins(%cst_13 : f32) outs(%29 : tensor<1x2x1xf32>) -> tensor<1x2x1xf32>
    %31 = linalg.generic {indexing_maps = [#map7, #map9], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%28 : tensor<1x2x1x4xf32>) outs(%30 : tensor<1x2x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %59 = arith.maximumf %out, %in : f32
      linalg.yield %59 : f32
    } -> tensor<1x2x1xf32>
    %32 = tensor.empty() : tensor<1x2x1x4xf32>
    %33 = linalg.generic {indexing_maps = [#map7, #map9, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%28, %31 : tensor<1x2x1x4xf32>, tensor<1x2x1xf32>) outs(%32 : tensor<1x2x1x4xf32>) {
    ^bb0(%in: f32, %in_25: f32, %out: f32):
      %59 = arith.subf %in, %in_25 : f32
      %60 = math.exp %59 : f32
      linalg.yield %60 : f32
    } -> tensor<1x2x1x4xf32>
    %cst_14 = arith.constant 0.000000e+00 : f32
    %34 = tensor.empty() : tensor<1x2x1xf32>
    %35 = linalg.fill ins(%cst_14 : f32) outs(%34 : tensor<1x2x1xf32>) -> tensor<1x2x1xf32>
    %36 = linalg.generic {indexing_maps = [#map7, #map9], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%33 : tensor<1x2x1x4xf32>) outs(%35 : tensor<1x2x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %59 = arith.addf %out, %in : f32
      linalg.yield %59 : f32
    } -> tensor<1x2x1xf32>
    %37 = tensor.empty() : tensor<1x2x1x4xf32>
    %38 = linalg.generic {indexing_maps = [#map7, #map9, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%33, %36 : tensor<1x2x1x4xf32>, tensor<1x2x1xf32>) outs(%37 : tensor<1x2x1x4xf32>) {
    ^bb0(%in: f32, %in_25: f32, %out: f32):
      %59 = arith.divf %in, %in_25 : f32
      linalg.yield %59 : f32
    } -> tensor<1x2x1x4xf32>
    %cst_15 = arith.constant 0.000000e+00 : f32
    %39 = tensor.empty() : tensor<1x2x1x2xf32>
    %40 = linalg.fill ins(%cst_15 : f32) outs(%39 : tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %41 = linalg.generic {indexing_maps = [#map3, #map4, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%38, %inserted_slice_11 : tensor<1x2x1x4xf32>, tensor<1x2x4x2xf32>) outs(%40 : tensor<1x2x1x2xf32>) {
    ^bb0(%in: f32, %in_25: f32, %out: f32):
      %59 = arith.mulf %in, %in_25 : f32
      %60 = arith.addf %out, %59 : f32
      linalg.yield %60 : f32
    } -> tensor<1x2x1x2xf32>
    %42 = tensor.empty() : tensor<1x1x2x2xf32>
    %transposed_16 = linalg.transpose ins(%41 : tensor<1x2x1x2xf32>) outs(%42 : tensor<1x1x2x2xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_17 = tensor.collapse_shape %transposed_16 [[0, 1], [2, 3]] : tensor<1x1x2x2xf32> into tensor<1x4xf32>
    %expanded_18 = tensor.expand_shape %collapsed_17 [[0, 1], [2]] output_shape [1, 1, 4] : tensor<1x4xf32> into tensor<1x1x4xf32>
    %43 = tensor.empty() : tensor<1x4x4xf32>
    %44 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg8 : tensor<4x4xf32>) outs(%43 : tensor<1x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4x4xf32>
    %cst_19 = arith.constant 0.000000e+00 : f32
    %45 = tensor.empty() : tensor<1x1x4xf32>
    %46 = linalg.fill ins(%cst_19 : f32) outs(%45 : tensor<1x1x4xf32>) -> tensor<1x1x4xf32>
    %47 = linalg.batch_matmul ins(%expanded_18, %44 : tensor<1x1x4xf32>, tensor<1x4x4xf32>) outs(%46 : tensor<1x1x4xf32>) -> tensor<1x1x4xf32>
    %48 = tensor.empty() : tensor<1x1x4xf32>
    %49 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%1, %47 : tensor<1x1x4xf32>, tensor<1x1x4xf32>) outs(%48 : tensor<1x1x4xf32>) {
    ^bb0(%in: f32, %in_25: f32, %out: f32):
      %59 = arith.addf %in, %in_25 : f32
      linalg.yield %59 : f32
    } -> tensor<1x1x4xf32>
    %50 = tensor.empty() : tensor<1x4x8xf32>
    %51 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg9 : tensor<4x8xf32>) outs(%50 : tensor<1x4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4x8xf32>
    %cst_20 = arith.constant 0.000000e+00 : f32
    %52 = tensor.empty() : tensor<1x1x8xf32>
    %53 = linalg.fill ins(%cst_20 : f32) outs(%52 : tensor<1x1x8xf32>) -> tensor<1x1x8xf32>
    %54 = linalg.batch_matmul ins(%49, %51 : tensor<1x1x4xf32>, tensor<1x4x8xf32>) outs(%53 : tensor<1x1x8xf32>) -> tensor<1x1x8xf32>
    %cst_21 = arith.constant 0.000000e+00 : f32
    %55 = tensor.empty() : tensor<1x2x2x5xf32>
    %56 = linalg.fill ins(%cst_21 : f32) outs(%55 : tensor<1x2x2x5xf32>) -> tensor<1x2x2x5xf32>
    %inserted_slice_22 = tensor.insert_slice %inserted_slice_9 into %56[0, 0, 0, 0] [1, 2, 2, 4] [1, 1, 1, 1] : tensor<1x2x2x4xf32> into tensor<1x2x2x5xf32>
    %cst_23 = arith.constant 0.000000e+00 : f32
    %57 = tensor.empty() : tensor<1x2x5x2xf32>
    %58 = linalg.fill ins(%cst_23 : f32) outs(%57 : tensor<1x2x5x2xf32>) -> tensor<1x2x5x2xf32>
    %inserted_slice_24 = tensor.insert_slice %inserted_slice_11 into %58[0, 0, 0, 0] [1, 2, 4, 2] [1, 1, 1, 1] : tensor<1x2x4x2xf32> into tensor<1x2x5x2xf32>
    return %inserted_slice_22, %inserted_slice_24, %54 : tensor<1x2x2x5xf32>, tensor<1x2x5x2xf32>, tensor<1x1x8xf32>
  }
  func.func @kina_tmax_s4(%arg0: tensor<1x1xi64> {bufferization.writable = false}, %arg1: tensor<8x4xf32> {bufferization.writable = false}, %arg2: tensor<1x2x2x5xf32> {bufferization.writable = false}, %arg3: tensor<1x2x5x2xf32> {bufferization.writable = false}, %arg4: tensor<1x1x1x1xf32> {bufferization.writable = false}, %arg5: tensor<4x4xf32> {bufferization.writable = false}, %arg6: tensor<4x4xf32> {bufferization.writable = false}, %arg7: tensor<4x4xf32> {bufferization.writable = false}, %arg8: tensor<4x4xf32> {bufferization.writable = false}, %arg9: tensor<4x8xf32> {bufferization.writable = false}) -> (tensor<1x2x2x5xf32>, tensor<1x2x5x2xf32>, tensor<1x1x8xf32>) attributes {llvm.emit_c_interface} {
    %0 = tensor.empty() : tensor<1x1x4xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0 : tensor<1x1xi64>) outs(%0 : tensor<1x1x4xf32>) {
    ^bb0(%in: i64, %out: f32):
      %c7_i64 = arith.constant 7 : i64
      %59 = arith.minsi %in, %c7_i64 : i64
      %c0_i64 = arith.constant 0 : i64
      %60 = arith.maxsi %59, %c0_i64 : i64
      %61 = arith.index_cast %60 : i64 to index
      %62 = linalg.index 2 : index
      %extracted = tensor.extract %arg1[%61, %62] : tensor<8x4xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x1x4xf32>
    %2 = tensor.empty() : tensor<1x4x4xf32>
    %3 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg5 : tensor<4x4xf32>) outs(%2 : tensor<1x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4x4xf32>
    %cst = arith.constant 0.000000e+00 : f32
    %4 = tensor.empty() : tensor<1x1x4xf32>
    %5 = linalg.fill ins(%cst : f32) outs(%4 : tensor<1x1x4xf32>) -> tensor<1x1x4xf32>
    %6 = linalg.batch_matmul ins(%1, %3 : tensor<1x1x4xf32>, tensor<1x4x4xf32>) outs(%5 : tensor<1x1x4xf32>) -> tensor<1x1x4xf32>
    %7 = tensor.empty() : tensor<1x4x4xf32>
    %8 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg6 : tensor<4x4xf32>) outs(%7 : tensor<1x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4x4xf32>
    %cst_0 = arith.constant 0.000000e+00 : f32
    %9 = tensor.empty() : tensor<1x1x4xf32>
    %10 = linalg.fill ins(%cst_0 : f32) outs(%9 : tensor<1x1x4xf32>) -> tensor<1x1x4xf32>
    %11 = linalg.batch_matmul ins(%1, %8 : tensor<1x1x4xf32>, tensor<1x4x4xf32>) outs(%10 : tensor<1x1x4xf32>) -> tensor<1x1x4xf32>
    %12 = tensor.empty() : tensor<1x4x4xf32>
    %13 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg7 : tensor<4x4xf32>) outs(%12 : tensor<1x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4x4xf32>
    %cst_1 = arith.constant 0.000000e+00 : f32
    %14 = tensor.empty() : tensor<1x1x4xf32>
    %15 = linalg.fill ins(%cst_1 : f32) outs(%14 : tensor<1x1x4xf32>) -> tensor<1x1x4xf32>
    %16 = linalg.batch_matmul ins(%1, %13 : tensor<1x1x4xf32>, tensor<1x4x4xf32>) outs(%15 : tensor<1x1x4xf32>) -> tensor<1x1x4xf32>
    %collapsed = tensor.collapse_shape %6 [[0, 1], [2]] : tensor<1x1x4xf32> into tensor<1x4xf32>
    %expanded = tensor.expand_shape %collapsed [[0, 1], [2, 3]] output_shape [1, 1, 2, 2] : tensor<1x4xf32> into tensor<1x1x2x2xf32>
    %17 = tensor.empty() : tensor<1x2x1x2xf32>
    %transposed = linalg.transpose ins(%expanded : tensor<1x1x2x2xf32>) outs(%17 : tensor<1x2x1x2xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_2 = tensor.collapse_shape %11 [[0, 1], [2]] : tensor<1x1x4xf32> into tensor<1x4xf32>
    %expanded_3 = tensor.expand_shape %collapsed_2 [[0, 1], [2, 3]] output_shape [1, 1, 2, 2] : tensor<1x4xf32> into tensor<1x1x2x2xf32>
    %18 = tensor.empty() : tensor<1x2x2x1xf32>
    %transposed_4 = linalg.transpose ins(%expanded_3 : tensor<1x1x2x2xf32>) outs(%18 : tensor<1x2x2x1xf32>) permutation = [0, 2, 3, 1] 
    %collapsed_5 = tensor.collapse_shape %16 [[0, 1], [2]] : tensor<1x1x4xf32> into tensor<1x4xf32>
    %expanded_6 = tensor.expand_shape %collapsed_5 [[0, 1], [2, 3]] output_shape [1, 1, 2, 2] : tensor<1x4xf32> into tensor<1x1x2x2xf32>
    %19 = tensor.empty() : tensor<1x2x1x2xf32>
    %transposed_7 = linalg.transpose ins(%expanded_6 : tensor<1x1x2x2xf32>) outs(%19 : tensor<1x2x1x2xf32>) permutation = [0, 2, 1, 3] 
    %extracted_slice = tensor.extract_slice %arg2[0, 0, 0, 0] [1, 2, 2, 4] [1, 1, 1, 1] : tensor<1x2x2x5xf32> to tensor<1x2x2x4xf32>
    %extracted_slice_8 = tensor.extract_slice %arg3[0, 0, 0, 0] [1, 2, 4, 2] [1, 1, 1, 1] : tensor<1x2x5x2xf32> to tensor<1x2x4x2xf32>
    %20 = tensor.empty() : tensor<1x2x2x5xf32>
    %inserted_slice = tensor.insert_slice %extracted_slice into %20[0, 0, 0, 0] [1, 2, 2, 4] [1, 1, 1, 1] : tensor<1x2x2x4xf32> into tensor<1x2x2x5xf32>
    %inserted_slice_9 = tensor.insert_slice %transposed_4 into %inserted_slice[0, 0, 0, 4] [1, 2, 2, 1] [1, 1, 1, 1] : tensor<1x2x2x1xf32> into tensor<1x2x2x5xf32>
    %21 = tensor.empty() : tensor<1x2x5x2xf32>
    %inserted_slice_10 = tensor.insert_slice %extracted_slice_8 into %21[0, 0, 0, 0] [1, 2, 4, 2] [1, 1, 1, 1] : tensor<1x2x4x2xf32> into tensor<1x2x5x2xf32>
    %inserted_slice_11 = tensor.insert_slice %transposed_7 into %inserted_slice_10[0, 0, 4, 0] [1, 2, 1, 2] [1, 1, 1, 1] : tensor<1x2x1x2xf32> into tensor<1x2x5x2xf32>
    %cst_12 = arith.constant 0.000000e+00 : f32
    %22 = tensor.empty() : tensor<1x2x1x5xf32>
    %23 = linalg.fill ins(%cst_12 : f32) outs(%22 : tensor<1x2x1x5xf32>) -> tensor<1x2x1x5xf32>
    %24 = linalg.generic {indexing_maps = [#map3, #map4, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%transposed, %inserted_slice_9 : tensor<1x2x1x2xf32>, tensor<1x2x2x5xf32>) outs(%23 : tensor<1x2x1x5xf32>) {
    ^bb0(%in: f32, %in_25: f32, %out: f32):
      %59 = arith.mulf %in, %in_25 : f32
      %60 = arith.addf %out, %59 : f32
      linalg.yield %60 : f32
    } -> tensor<1x2x1x5xf32>
    %25 = tensor.empty() : tensor<1x2x1x5xf32>
    %26 = linalg.generic {indexing_maps = [#map6, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg4 : tensor<1x1x1x1xf32>) outs(%25 : tensor<1x2x1x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x2x1x5xf32>
    %27 = tensor.empty() : tensor<1x2x1x5xf32>
    %28 = linalg.generic {indexing_maps = [#map7, #map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%24, %26 : tensor<1x2x1x5xf32>, tensor<1x2x1x5xf32>) outs(%27 : tensor<1x2x1x5xf32>) {
    ^bb0(%in: f32, %in_25: f32, %out: f32):
      %59 = arith.mulf %in, %in_25 : f32
      linalg.yield %59 : f32
    } -> tensor<1x2x1x5xf32>
    %cst_13 = arith.constant 0xFF800000 : f32
    %29 = tensor.empty() : tensor<1x2x1xf32>
    %30 = linalg.fill ins(%cst_13 : f32) outs(%29 : tensor<1x2x1xf32>) -> tensor<1x2x1xf32>
    %31 = linalg.generic {indexing_maps = [#map7, #map9], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%28 : tensor<1x2x1x5xf32>) outs(%30 : tensor<1x2x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %59 = arith.maximumf %out, %in : f32
      linalg.yield %59 : f32
    } -> tensor<1x2x1xf32>
    %32 = tensor.empty() : tensor<1x2x1x5xf32>
    %33 = linalg.generic {indexing_maps = [#map7, #map9, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%28, %31 : tensor<1x2x1x5xf32>, tensor<1x2x1xf32>) outs(%32 : tensor<1x2x1x5xf32>) {
    ^bb0(%in: f32, %in_25: f32, %out: f32):
      %59 = arith.subf %in, %in_25 : f32
      %60 = math.exp %59 : f32
      linalg.yield %60 : f32
    } -> tensor<1x2x1x5xf32>
    %cst_14 = arith.constant 0.000000e+00 : f32
    %34 = tensor.empty() : tensor<1x2x1xf32>
    %35 = linalg.fill ins(%cst_14 : f32) outs(%34 : tensor<1x2x1xf32>) -> tensor<1x2x1xf32>
    %36 = linalg.generic {indexing_maps = [#map7, #map9], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%33 : tensor<1x2x1x5xf32>) outs(%35 : tensor<1x2x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %59 = arith.addf %out, %in : f32
      linalg.yield %59 : f32
    } -> tensor<1x2x1xf32>
    %37 = tensor.empty() : tensor<1x2x1x5xf32>
    %38 = linalg.generic {indexing_maps = [#map7, #map9, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%33, %36 : tensor<1x2x1x5xf32>, tensor<1x2x1xf32>) outs(%37 : tensor<1x2x1x5xf32>) {
    ^bb0(%in: f32, %in_25: f32, %out: f32):
      %59 = arith.divf %in, %in_25 : f32
      linalg.yield %59 : f32
    } -> tensor<1x2x1x5xf32>
    %cst_15 = arith.constant 0.000000e+00 : f32
    %39 = tensor.empty() : tensor<1x2x1x2xf32>
    %40 = linalg.fill ins(%cst_15 : f32) outs(%39 : tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %41 = linalg.generic {indexing_maps = [#map3, #map4, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%38, %inserted_slice_11 : tensor<1x2x1x5xf32>, tensor<1x2x5x2xf32>) outs(%40 : tensor<1x2x1x2xf32>) {
    ^bb0(%in: f32, %in_25: f32, %out: f32):
      %59 = arith.mulf %in, %in_25 : f32
      %60 = arith.addf %out, %59 : f32
      linalg.yield %60 : f32
    } -> tensor<1x2x1x2xf32>
    %42 = tensor.empty() : tensor<1x1x2x2xf32>
    %transposed_16 = linalg.transpose ins(%41 : tensor<1x2x1x2xf32>) outs(%42 : tensor<1x1x2x2xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_17 = tensor.collapse_shape %transposed_16 [[0, 1], [2, 3]] : tensor<1x1x2x2xf32> into tensor<1x4xf32>
    %expanded_18 = tensor.expand_shape %collapsed_17 [[0, 1], [2]] output_shape [1, 1, 4] : tensor<1x4xf32> into tensor<1x1x4xf32>
    %43 = tensor.empty() : tensor<1x4x4xf32>
    %44 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg8 : tensor<4x4xf32>) outs(%43 : tensor<1x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4x4xf32>
    %cst_19 = arith.constant 0.000000e+00 : f32
    %45 = tensor.empty() : tensor<1x1x4xf32>
    %46 = linalg.fill ins(%cst_19 : f32) outs(%45 : tensor<1x1x4xf32>) -> tensor<1x1x4xf32>
    %47 = linalg.batch_matmul ins(%expanded_18, %44 : tensor<1x1x4xf32>, tensor<1x4x4xf32>) outs(%46 : tensor<1x1x4xf32>) -> tensor<1x1x4xf32>
    %48 = tensor.empty() : tensor<1x1x4xf32>
    %49 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%1, %47 : tensor<1x1x4xf32>, tensor<1x1x4xf32>) outs(%48 : tensor<1x1x4xf32>) {
    ^bb0(%in: f32, %in_25: f32, %out: f32):
      %59 = arith.addf %in, %in_25 : f32
      linalg.yield %59 : f32
    } -> tensor<1x1x4xf32>
    %50 = tensor.empty() : tensor<1x4x8xf32>
    %51 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg9 : tensor<4x8xf32>) outs(%50 : tensor<1x4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4x8xf32>
    %cst_20 = arith.constant 0.000000e+00 : f32
    %52 = tensor.empty() : tensor<1x1x8xf32>
    %53 = linalg.fill ins(%cst_20 : f32) outs(%52 : tensor<1x1x8xf32>) -> tensor<1x1x8xf32>
    %54 = linalg.batch_matmul ins(%49, %51 : tensor<1x1x4xf32>, tensor<1x4x8xf32>) outs(%53 : tensor<1x1x8xf32>) -> tensor<1x1x8xf32>
    %cst_21 = arith.constant 0.000000e+00 : f32
    %55 = tensor.empty() : tensor<1x2x2x5xf32>
    %56 = linalg.fill ins(%cst_21 : f32) outs(%55 : tensor<1x2x2x5xf32>) -> tensor<1x2x2x5xf32>
    %inserted_slice_22 = tensor.insert_slice %inserted_slice_9 into %56[0, 0, 0, 0] [1, 2, 2, 5] [1, 1, 1, 1] : tensor<1x2x2x5xf32> into tensor<1x2x2x5xf32>
    %cst_23 = arith.constant 0.000000e+00 : f32
    %57 = tensor.empty() : tensor<1x2x5x2xf32>
    %58 = linalg.fill ins(%cst_23 : f32) outs(%57 : tensor<1x2x5x2xf32>) -> tensor<1x2x5x2xf32>
    %inserted_slice_24 = tensor.insert_slice %inserted_slice_11 into %58[0, 0, 0, 0] [1, 2, 5, 2] [1, 1, 1, 1] : tensor<1x2x5x2xf32> into tensor<1x2x5x2xf32>
    return %inserted_slice_22, %inserted_slice_24, %54 : tensor<1x2x2x5xf32>, tensor<1x2x5x2xf32>, tensor<1x1x8xf32>
  }
  func.func @kina_main(%arg0: tensor<1x3xi64> {bufferization.writable = false}, %arg1: tensor<8x4xf32> {bufferization.writable = false}, %arg2: tensor<1x1x3x3xf32> {bufferization.writable = false}, %arg3: tensor<1x1x1x1xf32> {bufferization.writable = false}, %arg4: tensor<4x4xf32> {bufferization.writable = false}, %arg5: tensor<4x4xf32> {bufferization.writable = false}, %arg6: tensor<4x4xf32> {bufferization.writable = false}, %arg7: tensor<4x4xf32> {bufferization.writable = false}, %arg8: tensor<4x8xf32> {bufferization.writable = false}) -> (tensor<1x2x2x5xf32>, tensor<1x2x5x2xf32>, tensor<1x1x8xf32>, tensor<1x1x8xf32>, tensor<1x1xi64>, tensor<1x2x2x4xf32>, tensor<1x2x4x2xf32>, tensor<1x2x2x1xf32>, tensor<1x2x1x2xf32>, tensor<1x2x2x1xf32>, tensor<1x2x1x2xf32>, tensor<1x2x2x4xf32>, tensor<1x2x4x2xf32>, tensor<1x1x8xf32>, tensor<1x1xi64>, tensor<1x2x2x5xf32>, tensor<1x2x5x2xf32>, tensor<1x1x8xf32>) attributes {llvm.emit_c_interface} {
    %0:3 = call @kina_prefill(%arg0, %arg1, %arg2, %arg3, %arg4, %arg5, %arg6, %arg7, %arg8) : (tensor<1x3xi64>, tensor<8x4xf32>, tensor<1x1x3x3xf32>, tensor<1x1x1x1xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x8xf32>) -> (tensor<1x2x2x3xf32>, tensor<1x2x3x2xf32>, tensor<1x3x8xf32>)
    %1 = call @kina_last_logits(%0#2) : (tensor<1x3x8xf32>) -> tensor<1x1x8xf32>
    %2 = call @kina_greedy_one(%1) : (tensor<1x1x8xf32>) -> tensor<1x1xi64>
    %3:3 = call @kina_decode_s3(%2, %arg1, %0#0, %0#1, %arg3, %arg4, %arg5, %arg6, %arg7, %arg8) : (tensor<1x1xi64>, tensor<8x4xf32>, tensor<1x2x2x3xf32>, tensor<1x2x3x2xf32>, tensor<1x1x1x1xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x8xf32>) -> (tensor<1x2x2x4xf32>, tensor<1x2x4x2xf32>, tensor<1x1x8xf32>)
    %4 = call @kina_greedy_one(%3#2) : (tensor<1x1x8xf32>) -> tensor<1x1xi64>
    %5:3 = call @kina_decode_s4(%4, %arg1, %3#0, %3#1, %arg3, %arg4, %arg5, %arg6, %arg7, %arg8) : (tensor<1x1xi64>, tensor<8x4xf32>, tensor<1x2x2x4xf32>, tensor<1x2x4x2xf32>, tensor<1x1x1x1xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x8xf32>) -> (tensor<1x2x2x5xf32>, tensor<1x2x5x2xf32>, tensor<1x1x8xf32>)
    %6:2 = call @kina_to_buffers(%0#0, %0#1) : (tensor<1x2x2x3xf32>, tensor<1x2x3x2xf32>) -> (tensor<1x2x2x5xf32>, tensor<1x2x5x2xf32>)
    %7:3 = call @kina_tmax_s3(%2, %arg1, %6#0, %6#1, %arg3, %arg4, %arg5, %arg6, %arg7, %arg8) : (tensor<1x1xi64>, tensor<8x4xf32>, tensor<1x2x2x5xf32>, tensor<1x2x5x2xf32>, tensor<1x1x1x1xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x8xf32>) -> (tensor<1x2x2x5xf32>, tensor<1x2x5x2xf32>, tensor<1x1x8xf32>)
    %8 = call @kina_greedy_one(%7#2) : (tensor<1x1x8xf32>) -> tensor<1x1xi64>
    %9:3 = call @kina_tmax_s4(%8, %arg1, %7#0, %7#1, %arg3, %arg4, %arg5, %arg6, %arg7, %arg8) : (tensor<1x1xi64>, tensor<8x4xf32>, tensor<1x2x2x5xf32>, tensor<1x2x5x2xf32>, tensor<1x1x1x1xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x8xf32>) -> (tensor<1x2x2x5xf32>, tensor<1x2x5x2xf32>, tensor<1x1x8xf32>)
    %extracted_slice = tensor.extract_slice %7#0[0, 0, 0, 0] [1, 2, 2, 4] [1, 1, 1, 1] : tensor<1x2x2x5xf32> to tensor<1x2x2x4xf32>
    %extracted_slice_0 = tensor.extract_slice %7#1[0, 0, 0, 0] [1, 2, 4, 2] [1, 1, 1, 1] : tensor<1x2x5x2xf32> to tensor<1x2x4x2xf32>
    %extracted_slice_1 = tensor.extract_slice %7#0[0, 0, 0, 4] [1, 2, 2, 1] [1, 1, 1, 1] : tensor<1x2x2x5xf32> to tensor<1x2x2x1xf32>
    %extracted_slice_2 = tensor.extract_slice %7#1[0, 0, 4, 0] [1, 2, 1, 2] [1, 1, 1, 1] : tensor<1x2x5x2xf32> to tensor<1x2x1x2xf32>
    %cst = arith.constant dense<0.000000e+00> : tensor<1x2x2x1xf32>
    %cst_3 = arith.constant dense<0.000000e+00> : tensor<1x2x1x2xf32>
    return %9#0, %9#1, %7#2, %9#2, %8, %extracted_slice, %extracted_slice_0, %extracted_slice_1, %extracted_slice_2, %cst, %cst_3, %3#0, %3#1, %3#2, %4, %5#0, %5#1, %5#2 : tensor<1x2x2x5xf32>, tensor<1x2x5x2xf32>, tensor<1x1x8xf32>, tensor<1x1x8xf32>, tensor<1x1xi64>, tensor<1x2x2x4xf32>, tensor<1x2x4x2xf32>, tensor<1x2x2x1xf32>, tensor<1x2x1x2xf32>, tensor<1x2x2x1xf32>, tensor<1x2x1x2xf32>, tensor<1x2x2x4xf32>, tensor<1x2x4x2xf32>, tensor<1x1x8xf32>, tensor<1x1xi64>, tensor<1x2x2x5xf32>, tensor<1x2x5x2xf32>, tensor<1x1x8xf32>
  }
}
