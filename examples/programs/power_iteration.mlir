// Twenty steps of v <- A v / |A v|: the direction of A's largest eigenvalue.
module @power_iteration {
  func.func public @main(%a: tensor<64x64xf32>, %start: tensor<64xf32>) -> tensor<64xf32> {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %steps = stablehlo.constant dense<20> : tensor<i32>
    %done:2 = stablehlo.while(%i = %zero, %v = %start) : tensor<i32>, tensor<64xf32>
      cond {
        %more = stablehlo.compare LT, %i, %steps : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %more : tensor<i1>
      } do {
        %w = stablehlo.dot_general %a, %v, contracting_dims = [1] x [0]
            : (tensor<64x64xf32>, tensor<64xf32>) -> tensor<64xf32>
        %square = stablehlo.dot_general %w, %w, contracting_dims = [0] x [0]
            : (tensor<64xf32>, tensor<64xf32>) -> tensor<f32>
        %norm = stablehlo.sqrt %square : tensor<f32>
        %norms = stablehlo.broadcast_in_dim %norm, dims = [] : (tensor<f32>) -> tensor<64xf32>
        %next = stablehlo.divide %w, %norms : tensor<64xf32>
        %j = stablehlo.add %i, %one : tensor<i32>
        stablehlo.return %j, %next : tensor<i32>, tensor<64xf32>
      }
    return %done#1 : tensor<64xf32>
  }
}
