// The sum of squares of a vector that is spread over four devices; needs --devices 4.
module @sharded_sum attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["x"=4]>
  func.func public @main(%v: tensor<1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
      -> (tensor<f32> {sdy.sharding = #sdy.sharding<@mesh, []>}) {
    %square = stablehlo.multiply %v, %v : tensor<1024xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %sum = stablehlo.reduce(%square init: %zero) applies stablehlo.add across dimensions = [0]
        : (tensor<1024xf32>, tensor<f32>) -> tensor<f32>
    return %sum : tensor<f32>
  }
}
