// A program of somebody else's project: squares a number on the CPU.
#include <sturnus/runtime/buffer.h>
#include <sturnus/runtime/client.h>
#include <sturnus/runtime/executable.h>

#include <cstdio>

int main() {
  auto client = sturnus::Client::create("cpu");
  auto square = client.compile(R"(
    func.func @main(%x: tensor<f32>) -> tensor<f32> {
      %y = stablehlo.multiply %x, %x : tensor<f32>
      return %y : tensor<f32>
    })");
  auto three = sturnus::Buffer::scalar(client.device(), 3.0f);
  auto nine = square.run({&three}).front().item<float>();
  std::printf("%g\n", nine);
  return nine == 9 ? 0 : 1;
}
