//===- LayerErrorsTest.cpp - Layers that are refused ----------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CapiTestSupport.h"

#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

using namespace capi_test;

static std::string errorOf(const std::string &text,
                           const sa_layer_options &options = layerOptions()) {
  return layerError(sharedEngine("reference"), text, options);
}

TEST(LayerErrors, NullPointers) {
  const char *null = "arguments: got a null pointer, expected none";
  sa_layer *layer = nullptr;
  sa_engine *engine = sharedEngine("reference");
  EXPECT_SA_ERROR(sa_layer_create(nullptr, "", 0, nullptr, &layer), null);
  EXPECT_SA_ERROR(sa_layer_create(engine, nullptr, 0, nullptr, &layer), null);
  EXPECT_SA_ERROR(sa_layer_create(engine, "", 0, nullptr, nullptr), null);
  EXPECT_SA_ERROR(sa_layer_create_from_program(nullptr, "", 0, nullptr, &layer),
                  null);
  EXPECT_SA_ERROR(
      sa_layer_create_from_program(engine, nullptr, 0, nullptr, &layer), null);
  EXPECT_SA_ERROR(sa_layer_create_from_program(engine, "", 0, nullptr, nullptr),
                  null);
  sa_layer_info info = {};
  sa_shard shard = {};
  EXPECT_SA_ERROR(sa_layer_get_info(nullptr, &info), null);
  EXPECT_SA_ERROR(sa_layer_get_shard(nullptr, 0, &shard), null);
  EXPECT_EQ(layer, nullptr);
}

TEST(LayerErrors, TextWithoutALayer) {
  EXPECT_EQ(errorOf(""), "layers of the module: got none, expected one "
                         "function with an attend op");
  std::string text = routedText(Shape());
  std::string twice = text + text.substr(text.find("func.func"));
  twice.replace(twice.rfind("@layer"), 6, "@again");
  EXPECT_EQ(errorOf(twice),
            "line 14, column 1: layers of the module: got a second, expected "
            "one function with an attend op; note: line 7, column 1: the first "
            "is here");
  EXPECT_EQ(errorOf("func.func @f( {"),
            "line 1, column 14: expected non-function type");
}

TEST(LayerErrors, OrdersThatNobodyCanCarryOut) {
  Shape shape;
  shape.sq = shape.skv = 192;
  shape.order = "#sparseattn.order<cubes, grid = [3, 8, 8], cube = [1048577, "
                "1, 1]>";
  EXPECT_EQ(errorOf(routedText(shape)),
            "line 7, column 1: 'func.func' op order: cube axis T out of range: "
            "got 1048577, expected 1 to 1048576");
  // An order that comes without its permutes must fit too.
  shape.order = "";
  std::string text = routedText(shape);
  text.replace(text.find(") {") + 2, 0,
               "attributes {sparseattn.boundary_order = "
               "#sparseattn.order<hilbert, grid = [1, 2, 2]>} ");
  EXPECT_EQ(errorOf(text),
            "line 7, column 1: 'func.func' op attribute "
            "'sparseattn.boundary_order': got an order of 4 tokens, expected "
            "those of 'tensor<4x192x32xf32>'");
}

TEST(LayerErrors, NothingBehindATextIsRead) {
  // The texts end where memory ends, inside of a word or a string.
  auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void *memory = mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  char *end = static_cast<char *>(memory) + page;
  ASSERT_EQ(mprotect(end, page, PROT_NONE), 0);
  for (std::string text : {"func.func @f", "\"func", "module {} // note"}) {
    std::memcpy(end - text.size(), text.data(), text.size());
    sa_layer *layer = nullptr;
    EXPECT_EQ(sa_layer_create(sharedEngine("reference"), end - text.size(),
                              text.size(), nullptr, &layer),
              SA_ERROR);
    EXPECT_EQ(sa_layer_create_from_program(sharedEngine("reference"),
                                           end - text.size(), text.size(),
                                           nullptr, &layer),
              SA_ERROR);
  }
  munmap(memory, 2 * page);
}

TEST(LayerErrors, NestingWithoutEnd) {
  // The parser calls itself for each of them.
  auto attribute = [](const std::string &value) {
    return "module attributes {\n a = " + value + "} {}";
  };
  auto repeated = [](const char *text, int times) {
    std::string all;
    for (int i = 0; i < times; ++i)
      all += text;
    return all;
  };
  for (const char *open : {"[", "{b = ", "tuple<", "(", "[\"]\", [",
                           "[affine_set<(d0) : (d0 >= 0)>, "})
    EXPECT_EQ(errorOf(attribute(repeated(open, 100000))),
              "line 2: nesting of the text: got more than 256, expected at "
              "most that");
  for (const char *sign : {"1 +", "1 * ", "-", "1 -\n", "1 mod ", "1 floordiv ",
                           "1 ceildiv ", "2mod ", "1 + (1) + "})
    EXPECT_NE(errorOf(attribute("affine_map<() -> (" + repeated(sign, 100000)))
                  .find("operators of an expression: got more than 256"),
              std::string::npos)
        << sign;
  // Each alias nests in the next one.
  auto chain = [](const char *sigil, const char *first, const char *open,
                  const char *close) {
    std::string all = sigil + std::string("a0 = ") + first + "\n";
    for (int i = 1; i < 100000; ++i)
      all += sigil + ("a" + std::to_string(i)) + " =\n " + open + sigil + "a" +
             std::to_string(i - 1) + close + "\n";
    return all;
  };
  for (const std::string &aliases :
       {chain("!", "i32", "tuple<", ">"), chain("!", "i32", "() -> ", ""),
        chain("#", "1", "[", "]")})
    EXPECT_NE(errorOf(aliases).find("nesting of the text: got more than 256"),
              std::string::npos);
  // What looks deep and is not.
  std::string fine = "#a = [" + repeated("\"((((\", -1, ", 300) + "2]\n// " +
                     repeated("[", 300) + "\n#b = affine_set<() : (" +
                     repeated("1 >= 0, ", 300) + "0 == 0)>\n!t = i32\n#c = [" +
                     repeated("!t, () -> !t, #b, ", 300) + "!t]\n" +
                     routedText(Shape());
  EXPECT_NE(makeLayer(sharedEngine("reference"), fine, layerOptions()),
            nullptr);
}

TEST(LayerErrors, OptionsThatDoNotFit) {
  std::string text = routedText(Shape());
  sa_layer_options options = layerOptions();
  options.dtype = "f64";
  EXPECT_EQ(errorOf(text, options), "element type not known: got 'f64', "
                                    "expected f32, bf16, f16, i32 or i64");
  options.dtype = "i32";
  EXPECT_EQ(errorOf(text, options),
            "dtype of a layer: got i32, expected f32, bf16 or f16");
  options = layerOptions();
  options.balance = "magic";
  EXPECT_EQ(errorOf(text, options),
            "option balance: got 'magic', expected none, swap, split or pre");
  EXPECT_EQ(errorOf(text, layerOptions(-1, 1)),
            "options ulysses and ring: got -1 and 1, expected at least 1, or 0 "
            "for the layer's own");
  EXPECT_EQ(errorOf(text, layerOptions(1, -1)),
            "options ulysses and ring: got 1 and -1, expected at least 1, or 0 "
            "for the layer's own");
  EXPECT_EQ(errorOf(text, layerOptions(int64_t(1) << 40, int64_t(1) << 40)),
            "ranks of a mesh: got 1099511627776x1099511627776, expected at "
            "most 65536");
  options = layerOptions();
  options.dense_steps = -2;
  EXPECT_EQ(errorOf(text, options), "dense steps: got -2, expected at least 0");
  options = layerOptions();
  options.struct_size = 7;
  EXPECT_EQ(errorOf(text, options),
            "struct_size of the layer options: got 7, expected at least 8");
}

TEST(LayerErrors, MasksThatDoNotFit) {
  Shape shape;
  std::vector<uint8_t> mask(static_cast<size_t>(shape.tiles()), 1);
  sa_layer_options options = layerOptions();
  options.mask = mask.data();
  options.mask_size = mask.size() - 1;
  EXPECT_EQ(errorOf(routedText(shape), options),
            "line 11, column 14: 'sparseattn.attend' op size of the given mask "
            "must equal the layer's: got 139 tiles, expected 4 x 7 x 5");
  options.mask_size = mask.size();
  options.dense_steps = 1;
  EXPECT_EQ(errorOf(routedText(shape), options),
            "dense steps of a constant mask: got 1, expected 0: only routed "
            "layers re-route");
  options.dense_steps = 0;
  options.augment = 1;
  EXPECT_EQ(errorOf(routedText(shape), options),
            "line 11, column 14: 'sparseattn.attend' op mask to augment: got "
            "one made by 'sparseattn.explicit_mask', expected "
            "'sparseattn.route': extra tiles follow its scores");
}

TEST(LayerErrors, SizesThatAreNotSupported) {
  Shape shape;
  shape.dim = 20;
  for (const char *device : {"cpu", "reference"}) {
    EXPECT_EQ(
        layerError(sharedEngine(device), routedText(shape), layerOptions()),
        "line 11, column 14: 'sparseattn.attend' op head dimension is not "
        "supported: got 20, expected 32 to 256 in steps of 8");
    // The engine is as before.
    EXPECT_TRUE(
        makeLayer(sharedEngine(device), routedText(Shape()), layerOptions()));
  }
}

TEST(LayerErrors, ProgramsThatAreNone) {
  sa_layer *layer = nullptr;
  auto errorOf = [&](const std::string &program) {
    EXPECT_EQ(sa_layer_create_from_program(sharedEngine("reference"),
                                           program.data(), program.size(),
                                           nullptr, &layer),
              SA_ERROR);
    return std::string(sa_last_error());
  };
  std::string none = "schedules of the module: got none, expected one "
                     "sa_comm.template or sa_comm.program";
  EXPECT_EQ(errorOf(""), none);
  EXPECT_EQ(errorOf("module { }"), "line 1, column 1: " + none);
  EXPECT_EQ(errorOf("SAPROG"),
            "program header truncated: got 6 bytes, expected at least 16");
  EXPECT_EQ(errorOf(std::string("SAPROG\0\0\0\0\0\0\0\0\0\0", 16)),
            "program version is not supported: got 0, expected 2");
  EXPECT_EQ(layer, nullptr);
}

TEST(LayerErrors, InfoAndShardsOutOfRange) {
  Layer layer = makeLayer(sharedEngine("reference"), routedText(Shape()),
                          layerOptions(2, 2));
  ASSERT_TRUE(layer);
  sa_shard shard = {};
  EXPECT_SA_ERROR(sa_layer_get_shard(layer.get(), -1, &shard),
                  "rank: got -1, expected 0 to 3");
  EXPECT_SA_ERROR(sa_layer_get_shard(layer.get(), 4, &shard),
                  "rank: got 4, expected 0 to 3");
  EXPECT_SA_ERROR(sa_layer_get_shard(layer.get(), 0, nullptr),
                  "arguments: got a null pointer, expected none");
  EXPECT_SA_ERROR(sa_layer_get_info(layer.get(), nullptr),
                  "arguments: got a null pointer, expected none");
  sa_layer_info info = {};
  EXPECT_SA_ERROR(sa_layer_get_info(layer.get(), &info),
                  "struct_size of the layer info: got 0, expected at least 8");
}
