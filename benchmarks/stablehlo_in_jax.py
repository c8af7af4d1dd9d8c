"""Programs that Sturnus exported, in JAX."""
from jax._src.interpreters import mlir as jax_mlir
from jax._src.lib import xla_client
from jax.extend import backend
from jaxlib.mlir import ir


def load_stablehlo(text):
    """The function of arrays that the program is, compiled by JAX's XLA: it gives a list of its results."""
    client = backend.get_backend("cpu")
    with jax_mlir.make_ir_context():
        module = ir.Module.parse(text)
        devices = xla_client.DeviceList(tuple(client.local_devices()[:1]))
        executable = client.compile_and_load(module, devices, xla_client.CompileOptions())
    return lambda *arguments: executable.execute(list(arguments))
