// Made by make_random_values.py with JAX 0.10.2. Do not edit.
#pragma once

#include <cstdint>
#include <vector>

namespace sturnus::testing::recorded {
// clang-format off

inline const std::vector<std::uint32_t> key_large = {
    305419896u, 2596069104u,
};
inline const std::vector<std::uint32_t> split_3 = {
    1832780943u, 270669613u, 64467757u, 2916123636u, 2465931498u, 255383827u,
};
inline const std::vector<std::uint32_t> folded_7 = {
    2547012911u, 1371500959u,
};
inline const std::vector<std::uint32_t> folded_minus_1 = {
    2398536845u, 3890976714u,
};
inline const std::vector<std::uint8_t> bits_8 = {
    162, 217, 249, 215, 21, 216,
};
inline const std::vector<std::uint16_t> bits_16 = {
    5026, 12505, 63993, 49623, 29461, 20184,
};
inline const std::vector<std::uint32_t> bits_32 = {
    2098992034u, 2919706841u, 2646866425u, 2409546199u, 1935504149u, 2516274904u,
};
inline const std::vector<std::uint64_t> bits_64 = {
    7871734211187709741u, 276886910877598708u, 10591095138341673235u, 13462782411356743825u,
    12687676868490354166u, 11878554724538143822u,
};
inline const std::vector<float> uniform_f32 = {
    0x1.f470480000000p-2f, 0x1.5c0e600000000p-1f, 0x1.3b87f00000000p-1f, 0x1.1f3d800000000p-1f,
    0x1.cd75c80000000p-2f, 0x1.2bf69c0000000p-1f, 0x1.326b600000000p-4f, 0x1.8cde480000000p-1f,
    0x1.65ddfc0000000p-1f, 0x1.a323f40000000p-1f, 0x1.66b6680000000p-2f, 0x1.bee2440000000p-1f,
};
inline const std::vector<float> uniform_range_f32 = {
    0x1.21e8d80000000p+1f, 0x1.0831840000000p+2f, 0x1.c11b580000000p+1f, 0x1.7c25e80000000p+1f,
    0x1.e4cf180000000p+0f, 0x1.9b291c0000000p+1f, -0x1.c546920000000p+0f, 0x1.43aee80000000p+2f,
    0x1.14268c0000000p+2f, 0x1.5ed3d20000000p+2f, 0x1.d4b93c0000000p-1f, 0x1.80a3c20000000p+2f,
};
inline const std::vector<float> normal_f32 = {
    -0x1.cfbe2a0000000p-6f, 0x1.de57d00000000p-2f, 0x1.2eccc20000000p-2f, 0x1.3a76480000000p-3f,
    -0x1.fc09d60000000p-4f, 0x1.bc42340000000p-3f, -0x1.70dd720000000p+0f, 0x1.8300120000000p-1f,
    0x1.0af6340000000p-1f, 0x1.d201da0000000p-1f, -0x1.89b97a0000000p-2f, 0x1.23cb760000000p+0f,
    0x1.721f0c0000000p+0f, 0x1.14b64c0000000p+0f, -0x1.cd276c0000000p-5f, 0x1.d1b65e0000000p-1f,
    0x1.1d5c7a0000000p-1f, 0x1.c0a10e0000000p-3f, -0x1.72d1780000000p+0f, 0x1.8743960000000p-1f,
    -0x1.eeb02e0000000p-3f, -0x1.2debea0000000p+0f, -0x1.f05cf40000000p+0f, 0x1.6cd0a20000000p-2f,
    -0x1.edd0260000000p-3f, 0x1.3712980000000p+0f, -0x1.652d460000000p+0f, -0x1.11cd3a0000000p-1f,
    0x1.152bfa0000000p-2f, 0x1.8a45940000000p+0f, 0x1.6314e00000000p-1f, -0x1.a97aae0000000p-4f,
    -0x1.012e620000000p-1f, 0x1.5ab7cc0000000p-1f, 0x1.c60ab80000000p-4f, -0x1.6418700000000p-2f,
    0x1.d1d20e0000000p-2f, 0x1.d29ce40000000p-3f, -0x1.1d35080000000p-1f, -0x1.c41a080000000p-1f,
    -0x1.b53fd20000000p-3f, 0x1.3b67500000000p-2f, -0x1.7f6cb20000000p-3f, 0x1.7f87da0000000p-4f,
    0x1.7edab80000000p-2f, -0x1.0ea57a0000000p+0f, 0x1.c9641e0000000p-2f, 0x1.35f6a80000000p+0f,
    0x1.bc4c1c0000000p-2f, -0x1.6854560000000p-1f, 0x1.6940ac0000000p-3f, -0x1.96f1f40000000p-3f,
    -0x1.beae9c0000000p-3f, 0x1.4906400000000p+0f, 0x1.805c260000000p-2f, -0x1.6cb3ae0000000p-3f,
    -0x1.eb17820000000p-3f, -0x1.a3a6960000000p-2f, 0x1.77edb80000000p-2f, 0x1.3019fc0000000p+0f,
    -0x1.09daa20000000p+0f, -0x1.96af660000000p-1f, 0x1.0efdaa0000000p+0f, -0x1.72d70c0000000p-2f,
};
inline const std::vector<float> exponential_f32 = {
    0x1.5775640000000p-1f, 0x1.2388700000000p+0f, 0x1.ea67620000000p-1f, 0x1.a586980000000p-1f,
    0x1.32b1660000000p-1f, 0x1.c35c880000000p-1f, 0x1.3e7c980000000p-4f, 0x1.7e03f40000000p+0f,
    0x1.3354980000000p+0f, 0x1.b50d720000000p+0f, 0x1.b99a460000000p-2f, 0x1.07f4980000000p+1f,
};
inline const std::vector<float> laplace_f32 = {
    0x1.7634720000000p-6f, -0x1.c859680000000p-2f, -0x1.0f066a0000000p-2f, -0x1.0a89aa0000000p-3f,
    0x1.a9b1760000000p-4f, -0x1.81e16a0000000p-3f, 0x1.e6505c0000000p+0f, -0x1.9923bc0000000p-1f,
    -0x1.03c5040000000p-1f, -0x1.039b5c0000000p+0f, 0x1.6c57b00000000p-2f, -0x1.5e771e0000000p+0f,
};
inline const std::vector<float> logistic_f32 = {
    -0x1.7207200000000p-5f, 0x1.8174380000000p-1f, 0x1.e51f540000000p-2f, 0x1.f658e80000000p-3f,
    -0x1.95a3e80000000p-3f, 0x1.6339fc0000000p-2f, -0x1.41ed5a0000000p+1f, 0x1.3cce9c0000000p+0f,
    0x1.af48100000000p-1f, 0x1.81d27a0000000p+0f, -0x1.3c42e80000000p-1f, 0x1.ed16980000000p+0f,
};
inline const std::vector<float> gumbel_f32 = {
    0x1.561c940000000p-2f, 0x1.e76f180000000p-1f, 0x1.7378be0000000p-1f, 0x1.18a9f00000000p-1f,
    0x1.d07f1e0000000p-3f, 0x1.4092440000000p-1f, -0x1.e7cde60000000p-1f, 0x1.5e1a5c0000000p+0f,
    0x1.06da3c0000000p+0f, 0x1.9bdd460000000p+0f, -0x1.877f4a0000000p-5f, 0x1.feb26a0000000p+0f,
};
inline const std::vector<float> cauchy_f32 = {
    -0x1.22b0aa0000000p-5f, 0x1.4477c00000000p-1f, 0x1.879e800000000p-2f, 0x1.8d74f00000000p-3f,
    -0x1.401ef00000000p-3f, 0x1.1b218c0000000p-2f, -0x1.0b489e0000000p+2f, 0x1.2bfdf00000000p+0f,
    0x1.7170300000000p-1f, 0x1.8f96fe0000000p+0f, -0x1.0442400000000p-1f, 0x1.2f21740000000p+1f,
};
inline const std::vector<float> truncated_normal_f32 = {
    0x1.2e7d5e0000000p-3f, 0x1.230b360000000p-1f, 0x1.af21500000000p-2f, 0x1.332b560000000p-2f,
    0x1.1b17180000000p-4f, 0x1.6a40f20000000p-2f, -0x1.8b8be80000000p-1f, 0x1.a28dca0000000p-1f,
    0x1.3b07bc0000000p-1f, 0x1.e6141c0000000p-1f, -0x1.191b0c0000000p-3f, 0x1.2430800000000p+0f,
};
inline const std::vector<double> uniform_f64 = {
    0x1.b4f8123c40884p-2, 0x1.ebd996d6e8400p-7, 0x1.25f641d41e71ap-1, 0x1.75aad28c6a974p-1,
    0x1.60275dc7869dap-1, 0x1.49b2352c6244ap-1, 0x1.4a0d8a116c40ep-1, 0x1.2fa0aa5ea37eep-1,
    0x1.e4cc8b3c73bb0p-3, 0x1.0d25122e4b62cp-2, 0x1.ef870e9b22eb8p-3, 0x1.d69e7b1a38ba0p-5,
};
inline const std::vector<double> uniform_range_f64 = {
    0x1.a91cac72dd4c2p+0, -0x1.2d44768150a79p+1, 0x1.8c8840750a34fp+1, 0x1.2768309b21e85p+2,
    0x1.0d2ffa4b2c102p+2, 0x1.e3a2619c2f874p+1, 0x1.e481008a77de2p+1, 0x1.a4179f46ae854p+1,
    -0x1.8935b27297a0cp-3, 0x1.00a5c50d7c0b4p-4, -0x1.209b31976b87ep-3, -0x1.f09bb67e02b75p+0,
};
inline const std::vector<double> normal_f64 = {
    -0x1.7a4a26c962159p-3, -0x1.15bccfaa7ba3ap+1, 0x1.7ed8110b50460p-3, 0x1.397ad84a04356p-1,
    0x1.f5603e3665211p-2, 0x1.79dc43b3389fbp-2, 0x1.7bc68fa0d483dp-2, 0x1.e1f34ac8bb7b6p-3,
    -0x1.6f0d5d17d4a34p-1, -0x1.44ed7b04f13b4p-1, -0x1.666944a07e584p-1, -0x1.93995050901e4p+0,
    0x1.321c214e24a6cp-1, 0x1.d187f731426d1p-1, 0x1.c93fcd1bd7c76p-3, -0x1.78d34253f537ap-1,
    -0x1.0292f80f1bd2ep+1, 0x1.519ec02a8c61dp-2, -0x1.8755964d65e1cp-1, 0x1.da56e999600d8p+0,
    0x1.d5d285a947eaep-5, -0x1.2dca5102af49ep+0, 0x1.f108857cbe3c1p-3, 0x1.bbab8b6baf825p-1,
    -0x1.c35a6c69da99ap-3, 0x1.2dc2ba3ef0efep+1, 0x1.c3445ca54a433p-4, -0x1.1d1f90ee2ef20p+0,
    0x1.622da50fcf532p-5, -0x1.abf3724820bd8p-1, -0x1.779ceb339d1cbp-1, -0x1.06edf4d410e09p-2,
    -0x1.1ad386fd9c520p-1, -0x1.a8e0304a7dcd2p-3, -0x1.7a212375742e9p+0, -0x1.c0aa97f02a3c3p-1,
    0x1.ba501bf35edd4p-5, 0x1.3a25f2970fefbp-1, 0x1.06d7b1d850bc9p+1, -0x1.8f6970ef4849fp-2,
    0x1.0f1d98efa9b90p-1, 0x1.9cea4935d226ap-4, -0x1.76ffe0ddf721bp-2, -0x1.f1b9ec8d10035p-1,
    0x1.db276a8afd157p-3, -0x1.ba382405061cfp-2, -0x1.ac1c7865d6affp+0, 0x1.0a17748dd991ep+0,
    -0x1.03b057290368cp-1, 0x1.8c25e0d61d99ep-5, 0x1.ebf72fbcf88abp-2, 0x1.12924bfe2debep-2,
    -0x1.9c91e28cb8862p+0, 0x1.8789f3d1aa25ep-1, 0x1.0c23dfd40d781p-1, -0x1.60358ab0703b7p-1,
    -0x1.1e13f3a43ee0ep-1, -0x1.3817bd8725247p-2, -0x1.3b988c97299a9p+0, -0x1.bc98e8453cf93p-1,
    -0x1.bdc6d4adeda1cp-2, 0x1.6905a5c25bbf5p-2, 0x1.bc62e338acc6cp+0, -0x1.6e2ea86249d27p+0,
};
inline const std::vector<double> exponential_f64 = {
    0x1.1cdfb42ad6bbdp-1, 0x1.ef94239785787p-7, 0x1.b51244a07debep-1, 0x1.4f048657d925ap+0,
    0x1.2a034493c5310p+0, 0x1.085bbac0d2764p+0, 0x1.08dc1b83cdf91p+0, 0x1.cc496f33081adp-1,
    0x1.149c7391a9fd7p-2, 0x1.3843bb34c71b5p-2, 0x1.1ba9cd2e9060dp-2, 0x1.e4adab1a545e1p-5,
};
inline const std::vector<double> laplace_f64 = {
    0x1.4487e2b042994p-3, 0x1.c0c0e63cf45a1p+1, -0x1.48b852c36933ep-3, -0x1.3b24dcc00eac7p-1,
    -0x1.e244b26fcd855p-2, -0x1.5ba68b24029b5p-2, -0x1.5da80e2ff0a6ap-2, -0x1.a594fd0d91efap-3,
    0x1.7ed770e5bd788p-1, 0x1.494122a4b28f9p-1, 0x1.73a274da9917fp-1, 0x1.14f4af3902362p+1,
};
inline const std::vector<double> logistic_f64 = {
    -0x1.2e4ce8e1bb130p-2, -0x1.0bc52f0aa2de7p+2, 0x1.31f3904ca048ep-2, 0x1.fcc6c2f7839e0p-1,
    0x1.9467f6abedfb4p-1, 0x1.2f5bb1d3cc576p-1, 0x1.30ea34f788b20p-1, 0x1.8182af36d06b6p-2,
    -0x1.2bb6b386460c7p+0, -0x1.0801ba7cf9508p+0, -0x1.2458df197a435p+0, -0x1.661b048881cc8p+1,
};
inline const std::vector<double> gumbel_f64 = {
    0x1.48f6eaaf61ceep-3, -0x1.6f529fdd24e87p+0, 0x1.2d9332776f2e1p-1, 0x1.27c29bdd6aeddp+0,
    0x1.f7335130f98c7p-1, 0x1.a429ecb086fa4p-1, 0x1.a56c61d611397p-1, 0x1.4c551e2a0a7e7p-1,
    -0x1.7605fe81d31a0p-2, -0x1.28cd7fa64110ap-2, -0x1.66592eb90d156p-2, -0x1.0cbac11bfa07cp+0,
};
inline const std::vector<double> cauchy_f64 = {
    -0x1.dff0d1835f7e4p-3, -0x1.530d1de765139p+4, 0x1.e5dcea9df179ap-3, 0x1.c2df0ad8a1226p-1,
    0x1.56ce82fc04f58p-1, 0x1.f16c028d08c0fp-2, 0x1.f43207988a526p-2, 0x1.3412d73e54fe2p-2,
    -0x1.164eaedf58149p+0, -0x1.d848d32420e43p-1, -0x1.0d46944959792p+0, -0x1.5ec041a195971p+2,
};
inline const std::vector<double> truncated_normal_f64 = {
    0x1.476d2d51917c6p-6, -0x1.e6a113b26a9afp-1, 0x1.5026637a6c656p-2, 0x1.633370a002275p-1,
    0x1.2cfb38af827bep-1, 0x1.ef892062da6c2p-2, 0x1.f12ea89c07fc5p-2, 0x1.7a4eb0af84e18p-2,
    -0x1.83dab835c8eeap-2, -0x1.497f1ad59057bp-2, -0x1.780de70bbb56ep-2, -0x1.a49ae6f5c1d2bp-1,
};
inline const std::vector<bool> bernoulli = {
    false, false, false, false, false, false, true, false, false, false, true, true,
};
inline const std::vector<std::int32_t> categorical = {
    2, 0, 2, 0, 1, 0, 1, 2, 1, 2, 2, 0, 2, 2, 2, 2, 2, 2, 2, 2,
};
inline const std::vector<std::int32_t> randint_i32 = {
    407, 669, 173, 288, 412, 921, 712, 243, 368, 267, 325, 992,
};
inline const std::vector<std::int64_t> randint_i64 = {
    887064, 284199, 871282, 958720, 161345, 839245, 116617, 399385, 462783, 85806, 662446, 284106,
};
inline const std::vector<std::int32_t> permutation_20 = {
    7, 4, 16, 19, 2, 5, 3, 6, 18, 10, 11, 15, 8, 9, 13, 14, 17, 0, 1, 12,
};
inline const std::vector<std::int32_t> choice_even = {
    4, 14, 11, 9, 9, 19, 17, 7,
};
inline const std::vector<std::int32_t> choice_once = {
    7, 4, 16, 19, 2, 5, 3, 6,
};
inline const std::vector<std::int32_t> choice_weighted = {
    2, 1, 1, 1, 2, 1, 3, 1, 1, 1, 2, 1, 0, 1, 2, 1,
};
inline const std::vector<std::int32_t> choice_weighted_once = {
    1, 3, 2,
};
inline const std::vector<std::int32_t> choice_rows = {
    0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 4, 5, 6, 7,
};
inline const std::vector<std::int32_t> choice_columns = {
    2, 3, 6, 7, 10, 11,
};
inline const std::vector<std::int32_t> choice_weighted_columns = {
    2, 1, 1, 1, 2, 6, 5, 5, 5, 6, 10, 9, 9, 9, 10,
};

// clang-format on
}  // namespace sturnus::testing::recorded
