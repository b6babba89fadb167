#map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map2 = affine_map<(d0, d1, d2) -> (0, 0)>
#map3 = affine_map<(d0, d1, d2) -> (d1, d2)>
#map4 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>
#map5 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d4, d3)>
#map6 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
#map7 = affine_map<(d0, d1, d2, d3) -> (0, 0, 0, 0)>
#map8 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map9 = affine_map<(d0, d1, d2, d3) -> (0, 0, d2, d3)>
#map10 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
module {
  func.func @kina_greedy_row(%arg0: tensor<1x1x8xf32> {bufferization.writable = false}) -> tensor<1x1xi64> attributes {llvm.emit_c_interface} {
    %cst = arith.constant 0xFF800000 : f32
    %0 = tensor.empty() : tensor<1x1xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<1x1xf32>) -> tensor<1x1xf32>
    %c0_i64 = arith.constant 0 : i64
    %2 = tensor.empty() : tensor<1x1xi64>
    %3 = linalg.fill ins(%c0_i64 : i64) outs(%2 : tensor<1x1xi64>) -> tensor<1x1xi64>
    %4:2 = linalg.generic {indexing_maps = [#map, #map1, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0 : tensor<1x1x8xf32>) outs(%1, %3 : tensor<1x1xf32>, tensor<1x1xi64>) {
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
  func.func @kina_sample_row(%arg0: tensor<1x1x8xf32> {bufferization.writable = false}, %arg1: tensor<1x1x8xf32> {bufferization.writable = false}, %arg2: tensor<1x1xf32> {bufferization.writable = false}) -> tensor<1x1xi64> attributes {llvm.emit_c_interface} {
    %0 = tensor.empty() : tensor<1x1x8xf32>
    %1 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg2 : tensor<1x1xf32>) outs(%0 : tensor<1x1x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x8xf32>
    %2 = tensor.empty() : tensor<1x1x8xf32>
    %3 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0, %1 : tensor<1x1x8xf32>, tensor<1x1x8xf32>) outs(%2 : tensor<1x1x8xf32>) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %19 = arith.divf %in, %in_0 : f32
      linalg.yield %19 : f32
    } -> tensor<1x1x8xf32>
    %4 = tensor.empty() : tensor<1x1x8xf32>
    %5 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg1 : tensor<1x1x8xf32>) outs(%4 : tensor<1x1x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %19 = math.log %in : f32
      linalg.yield %19 : f32
    } -> tensor<1x1x8xf32>
    %6 = tensor.empty() : tensor<1x1x8xf32>
    %7 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%5 : tensor<1x1x8xf32>) outs(%6 : tensor<1x1x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %19 = arith.negf %in : f32
      linalg.yield %19 : f32
    } -> tensor<1x1x8xf32>
    %8 = tensor.empty() : tensor<1x1x8xf32>
    %9 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%7 : tensor<1x1x8xf32>) outs(%8 : tensor<1x1x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %19 = math.log %in : f32
      linalg.yield %19 : f32
    } -> tensor<1x1x8xf32>
    %10 = tensor.empty() : tensor<1x1x8xf32>
    %11 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%9 : tensor<1x1x8xf32>) outs(%10 : tensor<1x1x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %19 = arith.negf %in : f32
      linalg.yield %19 : f32
    } -> tensor<1x1x8xf32>
    %12 = tensor.empty() : tensor<1x1x8xf32>
    %13 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%3, %11 : tensor<1x1x8xf32>, tensor<1x1x8xf32>) outs(%12 : tensor<1x1x8xf32>) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %19 = arith.addf %in, %in_0 : f32
      linalg.yield %19 : f32
    } -> tensor<1x1x8xf32>
    %cst = arith.constant 0xFF800000 : f32
    %14 = tensor.empty() : tensor<1x1xf32>
    %15 = linalg.fill ins(%cst : f32) outs(%14 : tensor<1x1xf32>) -> tensor<1x1xf32>
    %c0_i64 = arith.constant 0 : i64
    %16 = tensor.empty() : tensor<1x1xi64>
    %17 = linalg.fill ins(%c0_i64 : i64) outs(%16 : tensor<1x1xi64>) -> tensor<1x1xi64>
    %18:2 = linalg.generic {indexing_maps = [#map, #map1, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%13 : tensor<1x1x8xf32>) outs(%15, %17 : tensor<1x1xf32>, tensor<1x1xi64>) {
    ^bb0(%in: f32, %out: f32, %out_0: i64):
      %19 = arith.cmpf ugt, %in, %out : f32
      %20 = arith.cmpf ord, %out, %out : f32
      %21 = arith.andi %19, %20 : i1
      %22 = linalg.index 2 : index
      %23 = arith.index_cast %22 : index to i64
      %24 = arith.select %21, %in, %out : f32
      %25 = arith.select %21, %23, %out_0 : i64
      linalg.yield %24, %25 : f32, i64
    } -> (tensor<1x1xf32>, tensor<1x1xi64>)
    return %18#1 : tensor<1x1xi64>
  }
  func.func @kina_storylm0_rollout(%arg0: tensor<1x36xi64> {bufferization.writable = false}, %arg1: tensor<8x4xf32> {bufferization.writable = false}, %arg2: tensor<1x1x36x36xf32> {bufferization.writable = false}, %arg3: tensor<1x1x1x1xf32> {bufferization.writable = false}, %arg4: tensor<4x4xf32> {bufferization.writable = false}, %arg5: tensor<4x4xf32> {bufferization.writable = false}, %arg6: tensor<4x4xf32> {bufferization.writable = false}, %arg7: tensor<4x4xf32> {bufferization.writable = false}, %arg8: tensor<4x8xf32> {bufferization.writable = false}) -> tensor<1x36x8xf32> attributes {llvm.emit_c_interface} {
    %0 = tensor.empty() : tensor<1x36x4xf32>
    %1 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0 : tensor<1x36xi64>) outs(%0 : tensor<1x36x4xf32>) {
    ^bb0(%in: i64, %out: f32):
      %c7_i64 = arith.constant 7 : i64
      %57 = arith.minsi %in, %c7_i64 : i64
      %c0_i64 = arith.constant 0 : i64
      %58 = arith.maxsi %57, %c0_i64 : i64
      %59 = arith.index_cast %58 : i64 to index
      %60 = linalg.index 2 : index
      %extracted = tensor.extract %arg1[%59, %60] : tensor<8x4xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x36x4xf32>
    %2 = tensor.empty() : tensor<1x4x4xf32>
    %3 = linalg.generic {indexing_maps = [#map3, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg4 : tensor<4x4xf32>) outs(%2 : tensor<1x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4x4xf32>
    %cst = arith.constant 0.000000e+00 : f32
    %4 = tensor.empty() : tensor<1x36x4xf32>
    %5 = linalg.fill ins(%cst : f32) outs(%4 : tensor<1x36x4xf32>) -> tensor<1x36x4xf32>
    %6 = linalg.batch_matmul ins(%1, %3 : tensor<1x36x4xf32>, tensor<1x4x4xf32>) outs(%5 : tensor<1x36x4xf32>) -> tensor<1x36x4xf32>
    %7 = tensor.empty() : tensor<1x4x4xf32>
    %8 = linalg.generic {indexing_maps = [#map3, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg5 : tensor<4x4xf32>) outs(%7 : tensor<1x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4x4xf32>
    %cst_0 = arith.constant 0.000000e+00 : f32
    %9 = tensor.empty() : tensor<1x36x4xf32>
    %10 = linalg.fill ins(%cst_0 : f32) outs(%9 : tensor<1x36x4xf32>) -> tensor<1x36x4xf32>
    %11 = linalg.batch_matmul ins(%1, %8 : tensor<1x36x4xf32>, tensor<1x4x4xf32>) outs(%10 : tensor<1x36x4xf32>) -> tensor<1x36x4xf32>
    %12 = tensor.empty() : tensor<1x4x4xf32>
    %13 = linalg.generic {indexing_maps = [#map3, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg6 : tensor<4x4xf32>) outs(%12 : tensor<1x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4x4xf32>
    %cst_1 = arith.constant 0.000000e+00 : f32
    %14 = tensor.empty() : tensor<1x36x4xf32>
    %15 = linalg.fill ins(%cst_1 : f32) outs(%14 : tensor<1x36x4xf32>) -> tensor<1x36x4xf32>
    %16 = linalg.batch_matmul ins(%1, %13 : tensor<1x36x4xf32>, tensor<1x4x4xf32>) outs(%15 : tensor<1x36x4xf32>) -> tensor<1x36x4xf32>
    %expanded = tensor.expand_shape %6 [[0], [1], [2, 3]] output_shape [1, 36, 2, 2] : tensor<1x36x4xf32> into tensor<1x36x2x2xf32>
    %17 = tensor.empty() : tensor<1x2x36x2xf32>
    %transposed = linalg.transpose ins(%expanded : tensor<1x36x2x2xf32>) outs(%17 : tensor<1x2x36x2xf32>) permutation = [0, 2, 1, 3] 
    %expanded_2 = tensor.expand_shape %11 [[0], [1], [2, 3]] output_shape [1, 36, 2, 2] : tensor<1x36x4xf32> into tensor<1x36x2x2xf32>
    %18 = tensor.empty() : tensor<1x2x2x36xf32>
    %transposed_3 = linalg.transpose ins(%expanded_2 : tensor<1x36x2x2xf32>) outs(%18 : tensor<1x2x2x36xf32>) permutation = [0, 2, 3, 1] 
    %expanded_4 = tensor.expand_shape %16 [[0], [1], [2, 3]] output_shape [1, 36, 2, 2] : tensor<1x36x4xf32> into tensor<1x36x2x2xf32>
    %19 = tensor.empty() : tensor<1x2x36x2xf32>
    %transposed_5 = linalg.transpose ins(%expanded_4 : tensor<1x36x2x2xf32>) outs(%19 : tensor<1x2x36x2xf32>) permutation = [0, 2, 1, 3] 
    %cst_6 = arith.constant 0.000000e+00 : f32
    %20 = tensor.empty() : tensor<1x2x36x36xf32>
    %21 = linalg.fill ins(%cst_6 : f32) outs(%20 : tensor<1x2x36x36xf32>) -> tensor<1x2x36x36xf32>
    %22 = linalg.generic {indexing_maps = [#map4, #map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%transposed, %transposed_3 : tensor<1x2x36x2xf32>, tensor<1x2x2x36xf32>) outs(%21 : tensor<1x2x36x36xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %57 = arith.mulf %in, %in_13 : f32
      %58 = arith.addf %out, %57 : f32
      linalg.yield %58 : f32
    } -> tensor<1x2x36x36xf32>
    %23 = tensor.empty() : tensor<1x2x36x36xf32>
    %24 = linalg.generic {indexing_maps = [#map7, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg3 : tensor<1x1x1x1xf32>) outs(%23 : tensor<1x2x36x36xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x2x36x36xf32>
    %25 = tensor.empty() : tensor<1x2x36x36xf32>
    %26 = linalg.generic {indexing_maps = [#map8, #map8, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%22, %24 : tensor<1x2x36x36xf32>, tensor<1x2x36x36xf32>) outs(%25 : tensor<1x2x36x36xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %57 = arith.mulf %in, %in_13 : f32
      linalg.yield %57 : f32
    } -> tensor<1x2x36x36xf32>
    %27 = tensor.empty() : tensor<1x2x36x36xf32>
    %28 = linalg.generic {indexing_maps = [#map9, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg2 : tensor<1x1x36x36xf32>) outs(%27 : tensor<1x2x36x36xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x2x36x36xf32>
    %29 = tensor.empty() : tensor<1x2x36x36xf32>
    %30 = linalg.generic {indexing_maps = [#map8, #map8, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%26, %28 : tensor<1x2x36x36xf32>, tensor<1x2x36x36xf32>) outs(%29 : tensor<1x2x36x36xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %57 = arith.addf %in, %in_13 : f32
      linalg.yield %57 : f32
    } -> tensor<1x2x36x36xf32>
    %cst_7 = arith.constant 0xFF800000 : f32
    %31 = tensor.empty() : tensor<1x2x36xf32>
    %32 = linalg.fill ins(%cst_7 : f32) outs(%31 : tensor<1x2x36xf32>) -> tensor<1x2x36xf32>
    %33 = linalg.generic {indexing_maps = [#map8, #map10], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%30 : tensor<1x2x36x36xf32>) outs(%32 : tensor<1x2x36xf32>) {
    ^bb0(%in: f32, %out: f32):
      %57 = arith.maximumf %out, %in : f32
      linalg.yield %57 : f32
    } -> tensor<1x2x36xf32>
    %34 = tensor.empty() : tensor<1x2x36x36xf32>
    %35 = linalg.generic {indexing_maps = [#map8, #map10, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%30, %33 : tensor<1x2x36x36xf32>, tensor<1x2x36xf32>) outs(%34 : tensor<1x2x36x36xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %57 = arith.subf %in, %in_13 : f32
      %58 = math.exp %57 : f32
      linalg.yield %58 : f32
    } -> tensor<1x2x36x36xf32>
    %cst_8 = arith.constant 0.000000e+00 : f32
    %36 = tensor.empty() : tensor<1x2x36xf32>
    %37 = linalg.fill ins(%cst_8 : f32) outs(%36 : tensor<1x2x36xf32>) -> tensor<1x2x36xf32>
    %38 = linalg.generic {indexing_maps = [#map8, #map10], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%35 : tensor<1x2x36x36xf32>) outs(%37 : tensor<1x2x36xf32>) {
    ^bb0(%in: f32, %out: f32):
      %57 = arith.addf %out, %in : f32
      linalg.yield %57 : f32
    } -> tensor<1x2x36xf32>
    %39 = tensor.empty() : tensor<1x2x36x36xf32>
    %40 = linalg.generic {indexing_maps = [#map8, #map10, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%35, %38 : tensor<1x2x36x36xf32>, tensor<1x2x36xf32>) outs(%39 : tensor<1x2x36x36xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %57 = arith.divf %in, %in_13 : f32
      linalg.yield %57 : f32
    } -> tensor<1x2x36x36xf32>
    %cst_9 = arith.constant 0.000000e+00 : f32
    %41 = tensor.empty() : tensor<1x2x36x2xf32>
    %42 = linalg.fill ins(%cst_9 : f32) outs(%41 : tensor<1x2x36x2xf32>) -> tensor<1x2x36x2xf32>
    %43 = linalg.generic {indexing_maps = [#map4, #map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%40, %transposed_5 : tensor<1x2x36x36xf32>, tensor<1x2x36x2xf32>) outs(%42 : tensor<1x2x36x2xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %57 = arith.mulf %in, %in_13 : f32
      %58 = arith.addf %out, %57 : f32
      linalg.yield %58 : f32
    } -> tensor<1x2x36x2xf32>
    %44 = tensor.empty() : tensor<1x36x2x2xf32>
    %transposed_10 = linalg.transpose ins(%43 : tensor<1x2x36x2xf32>) outs(%44 : tensor<1x36x2x2xf32>) permutation = [0, 2, 1, 3] 
    %collapsed = tensor.collapse_shape %transposed_10 [[0], [1], [2, 3]] : tensor<1x36x2x2xf32> into tensor<1x36x4xf32>
    %45 = tensor.empty() : tensor<1x4x4xf32>
    %46 = linalg.generic {indexing_maps = [#map3, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg7 : tensor<4x4xf32>) outs(%45 : tensor<1x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4x4xf32>
    %cst_11 = arith.constant 0.000000e+00 : f32
    %47 = tensor.empty() : tensor<1x36x4xf32>
    %48 = linalg.fill ins(%cst_11 : f32) outs(%47 : tensor<1x36x4xf32>) -> tensor<1x36x4xf32>
    %49 = linalg.batch_matmul ins(%collapsed, %46 : tensor<1x36x4xf32>, tensor<1x4x4xf32>) outs(%48 : tensor<1x36x4xf32>) -> tensor<1x36x4xf32>
    %50 = tensor.empty() : tensor<1x36x4xf32>
    %51 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%1, %49 : tensor<1x36x4xf32>, tensor<1x36x4xf32>) outs(%50 : tensor<1x36x4xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %57 = arith.addf %in, %in_13 : f32
      linalg.yield %57 : f32
    } -> tensor<1x36x4xf32>
    %52 = tensor.empty() : tensor<1x4x8xf32>
    %53 = linalg.generic {indexing_maps = [#map3, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg8 : tensor<4x8xf32>) outs(%52 : tensor<1x4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4x8xf32>
    %cst_12 = arith.constant 0.000000e+00 : f32
    %54 = tensor.empty() : tensor<1x36x8xf32>
    %55 = linalg.fill ins(%cst_12 : f32) outs(%54 : tensor<1x36x8xf32>) -> tensor<1x36x8xf32>
    %56 = linalg.batch_matmul ins(%51, %53 : tensor<1x36x4xf32>, tensor<1x4x8xf32>) outs(%55 : tensor<1x36x8xf32>) -> tensor<1x36x8xf32>
    return %56 : tensor<1x36x8xf32>
  }
  func.func @kina_main(%arg0: tensor<1x36xi64> {bufferization.writable = false}, %arg1: tensor<8x4xf32> {bufferization.writable = false}, %arg2: tensor<1x1x36x36xf32> {bufferization.writable = false}, %arg3: tensor<1x1x1x1xf32> {bufferization.writable = false}, %arg4: tensor<4x4xf32> {bufferization.writable = false}, %arg5: tensor<4x4xf32> {bufferization.writable = false}, %arg6: tensor<4x4xf32> {bufferization.writable = false}, %arg7: tensor<4x4xf32> {bufferization.writable = false}, %arg8: tensor<4x8xf32> {bufferization.writable = false}) -> tensor<1x36x8xf32> attributes {llvm.emit_c_interface} {
    %0 = call @kina_storylm0_rollout(%arg0, %arg1, %arg2, %arg3, %arg4, %arg5, %arg6, %arg7, %arg8) : (tensor<1x36xi64>, tensor<8x4xf32>, tensor<1x1x36x36xf32>, tensor<1x1x1x1xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x8xf32>) -> tensor<1x36x8xf32>
    return %0 : tensor<1x36x8xf32>
  }
}
