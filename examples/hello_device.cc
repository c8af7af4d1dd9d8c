// Compiles a program once and runs it on every device that is here.
#include <sturnus/runtime/executable.h>

#include <iostream>

// y = tanh(a x): StableHLO, the language that every XLA device compiles.
constexpr char program[] = R"(
module @scaled_tanh {
  func.func public @main(%a: tensor<f32>, %x: tensor<4xf32>) -> tensor<4xf32> {
    %as = stablehlo.broadcast_in_dim %a, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %ax = stablehlo.multiply %as, %x : tensor<4xf32>
    %y = stablehlo.tanh %ax : tensor<4xf32>
    return %y : tensor<4xf32>
  }
})";

int main() {
  using namespace sturnus;
  Client client = Client::create("cpu");  // or "cuda", "tpu", or the path of a plugin
  LoadedExecutable scaled_tanh = client.compile(program, {.portable = true});

  std::vector<float> values = {0.0f, 0.5f, 1.0f, 1.5f};
  for (const Device& device : client.addressable_devices()) {
    Buffer a = Buffer::scalar(device, 1.0f + static_cast<float>(device.id()));
    Buffer x = Buffer::from_host<float>(device, values, {4});
    std::vector<Buffer> results = scaled_tanh.run({&a, &x}, {.device = device});

    std::cout << device.kind() << " " << device.id() << ":";
    for (float y : results[0].to_vector<float>()) std::cout << " " << y;
    std::cout << "\n";
  }
}
