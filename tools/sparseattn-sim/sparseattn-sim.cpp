//===- sparseattn-sim.cpp - Interprets functions and programs -------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Arrays.h"
#include "Bindings.h"
#include "Check.h"
#include "CommandLine.h"
#include "Prediction.h"
#include "RankRun.h"
#include "SimOptions.h"
#include "Summary.h"
#include "ValueText.h"

#include "sparseattn-rt/Executor.h"

#include <cstdio>
#include <cstdlib>
#include <new>
#include <optional>

using namespace sart;
using namespace mlir::sparseattn;

namespace {

void print(const std::string &text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

/// One invocation.
class Simulation {
public:
  explicit Simulation(const SimOptions &options) : options(options) {}
  Status execute();

private:
  Status interpretOnly();
  Status runLayer();
  Status runFile();
  Status runProgram(const std::string &contents);
  Status readArguments();
  Expected<std::vector<InterpreterValue>> interpretText(TextInterpreter &text);
  Status checkLayer(RankRun &run, RunInputs &inputs);
  Status report(RankRun &run, const CheckResult *check);
  Status writeRun(RankRun &run);
  Status predictRun(RankRun &run);
  Expected<bool> predictFile(bool isProgram);

  const SimOptions &options;
  std::string contents;
  std::unique_ptr<TextInterpreter> interpreter;
  Signature signature;
  std::vector<InterpreterValue> arguments;
  std::shared_ptr<const MaskValue> lastMask; ///< of the interpretation
};

Status Simulation::execute() {
  Expected<std::string> file = readTextFile("file", options.path);
  if (!file)
    return file.status();
  contents = std::move(*file);
  if (contents.compare(0, 6, "SAPROG") == 0)
    return runFile();
  Expected<std::unique_ptr<TextInterpreter>> parsed =
      TextInterpreter::create(contents);
  if (!parsed)
    return makeError(options.path, ": ", parsed.message());
  interpreter = std::move(*parsed);
  if (interpreter->hasSchedule())
    return runFile();
  Expected<bool> predicted = predictFile(false);
  if (!predicted)
    return predicted.status();
  if (*predicted)
    return Status::success();
  Expected<Signature> found = interpreter->signature(options.function);
  if (!found)
    return makeError(options.path, ": ", found.message());
  signature = std::move(*found);
  SART_RETURN_IF_ERROR(readArguments());
  return options.wantsProgram() ? runLayer() : interpretOnly();
}

/// Predicts what is in the file without running it, where that is enough;
/// false: it has to run.
Expected<bool> Simulation::predictFile(bool isProgram) {
  if (options.machine.empty() || options.computes())
    return false;
  Expected<Prediction> prediction = Prediction::create(options);
  if (!prediction)
    return prediction.status();
  Expected<std::optional<Program>> bound =
      prediction->bindFile(contents, isProgram);
  if (!bound)
    return bound.status();
  if (!*bound)
    return false;
  if (options.explain && !options.json)
    print(explainProgram(**bound));
  if (Status status = prediction->report(**bound); !status.ok())
    return status;
  return true;
}

/// Predicts the program that ran.
Status Simulation::predictRun(RankRun &run) {
  if (options.machine.empty())
    return Status::success();
  Expected<Prediction> prediction = Prediction::create(options);
  if (!prediction)
    return prediction.status();
  Expected<Program> bound = run.program();
  if (!bound)
    return bound.status();
  return prediction->report(*bound);
}

Status Simulation::runFile() {
  SART_RETURN_IF_ERROR(checkForProgram(options));
  Expected<bool> predicted = predictFile(true);
  if (!predicted)
    return predicted.status();
  return *predicted ? Status::success() : runProgram(contents);
}

Status Simulation::readArguments() {
  std::string notice;
  if (options.inputs.empty() && !signature.arguments.empty())
    notice = concat("inputs     normal random, seed ", options.seed, "\n");
  Expected<std::vector<InterpreterValue>> values =
      options.inputs.empty() ? randomArguments(signature, options.seed)
                             : loadArguments(options.inputs, signature, notice);
  if (!values)
    return values.status();
  arguments = std::move(*values);
  print(notice);
  return Status::success();
}

/// Evaluates the function of `text` that answers to the given name.
Expected<std::vector<InterpreterValue>>
Simulation::interpretText(TextInterpreter &text) {
  lastMask.reset();
  Expected<std::vector<InterpreterValue>> results =
      text.run(options.function, arguments, options.threads,
               [&](const std::string &op, int64_t line, const MaskValue &mask) {
                 lastMask = std::make_shared<const MaskValue>(mask);
                 if (options.masks && !options.wantsProgram())
                   print(concat(column("mask"), op, " at line ", line, ": ",
                                maskText(mask.mask), "\n"));
               });
  if (!results)
    return makeError(options.path, ": ", results.message());
  return results;
}

Status Simulation::interpretOnly() {
  Expected<std::vector<InterpreterValue>> results = interpretText(*interpreter);
  if (!results)
    return results.status();
  std::vector<std::string> names = resultNames(signature);
  if (!options.outputs.empty())
    SART_RETURN_IF_ERROR(writeNpz(options.outputs, toArchive(names, *results)));
  for (size_t i = 0; i < results->size(); ++i)
    print(column(names[i]) + valueText((*results)[i]) + "\n");
  return Status::success();
}

Status Simulation::writeRun(RankRun &run) {
  if (options.outputs.empty())
    return Status::success();
  const sa_layer_info &info = run.info();
  NpzArchive archive;
  archive["out"] = toArray(run.out.dtype, {info.heads, info.sq, info.head_dim},
                           run.out.data);
  archive["lse"] = toArray(DType::F32, {info.heads, info.sq}, run.lse.data);
  return writeNpz(options.outputs, archive);
}

/// What a run over ranks prints.
Status Simulation::report(RankRun &run, const CheckResult *check) {
  print(makeSummary(run.info(), run.stats(), check));
  print(column("out") +
        tensorText({run.out.dtype,
                    {run.out.shape.begin(), run.out.shape.end()},
                    run.out.data}) +
        "\n");
  print(column("lse") +
        tensorText(
            {DType::F32, {run.lse.shape[0], run.lse.shape[1]}, run.lse.data}) +
        "\n");
  if (options.masks) {
    Expected<BlockMask> mask = run.mask();
    if (!mask)
      return mask.status();
    print(column("mask") + maskText(*mask) + "\n");
  }
  if (options.explain) {
    Expected<std::string> text = run.explanation();
    if (!text)
      return text.status();
    print(*text);
  }
  return predictRun(run);
}

/// The run against the interpretation of what ran: the text, or with
/// augmentation the text of the run's plan, which says the extra tiles.
Status Simulation::checkLayer(RankRun &run, RunInputs &inputs) {
  std::unique_ptr<TextInterpreter> planned;
  if (options.augment) {
    Expected<std::string> text = run.planText();
    if (!text)
      return text.status();
    Expected<std::unique_ptr<TextInterpreter>> parsed =
        TextInterpreter::create(*text);
    if (!parsed)
      return makeError("plan of the run: ", parsed.message());
    planned = std::move(*parsed);
  }
  Expected<std::vector<InterpreterValue>> results =
      interpretText(planned ? *planned : *interpreter);
  if (!results)
    return results.status();
  auto tensorAt = [&](size_t i) {
    auto tensor =
        i < results->size()
            ? std::get_if<std::shared_ptr<const TensorValue>>(&(*results)[i])
            : nullptr;
    return tensor ? *tensor : nullptr;
  };
  std::shared_ptr<const TensorValue> out = tensorAt(0), lse = tensorAt(1);
  if (!out || !lse)
    return makeError("results of @", signature.name, ": got ", results->size(),
                     ", expected out and lse");
  Expected<Comparison> comparison =
      compare(run, inputs.v, *out, *lse, lastMask ? &lastMask->mask : nullptr);
  if (!comparison)
    return comparison.status();
  char line[256];
  std::snprintf(line, sizeof line,
                "%s%lld ranks against the interpreter: largest error %.3g "
                "(bound %.3g), lse %.3g (bound %.3g), %lld of %lld tiles "
                "differ\n",
                column("check").c_str(), (long long)run.info().ranks,
                comparison->error, comparison->bound, comparison->lseError,
                comparison->lseBound, (long long)comparison->differing,
                (long long)comparison->tiles);
  print(line);
  if (comparison->differing)
    return makeError("tiles that differ from the interpreter's mask: got ",
                     comparison->differing, ", expected 0");
  if (!comparison->passed())
    return makeError("largest error against the interpreter: got ",
                     comparison->error, " and ", comparison->lseError,
                     " of lse, expected at most ", comparison->bound, " and ",
                     comparison->lseBound);
  return Status::success();
}

Status Simulation::runLayer() {
  Expected<RankRun> run = RankRun::create(options, contents, false);
  if (!run)
    return run.status();
  Expected<RunInputs> inputs = toRunInputs(arguments);
  if (!inputs)
    return inputs.status();
  SART_RETURN_IF_ERROR(run->run(*inputs));
  SART_RETURN_IF_ERROR(report(*run, nullptr));
  if (options.check)
    SART_RETURN_IF_ERROR(checkLayer(*run, *inputs));
  return writeRun(*run);
}

Status Simulation::runProgram(const std::string &program) {
  Expected<RankRun> run = RankRun::create(options, program, true);
  if (!run)
    return run.status();
  RunInputs inputs;
  if (options.inputs.empty()) {
    print(concat("inputs     normal random, seed ", options.seed, "\n"));
    inputs = randomInputs(run->info(), static_cast<DType>(run->info().dtype),
                          options.seed);
  } else {
    Expected<RunInputs> loaded = loadInputs(options.inputs);
    if (!loaded)
      return loaded.status();
    if (loaded->hasMask)
      return makeError("array 'mask' of '", options.inputs,
                       "': got one, expected none: the program has its mask in "
                       "it");
    inputs = std::move(*loaded);
  }
  SART_RETURN_IF_ERROR(run->run(inputs));
  CheckResult check;
  if (options.check) {
    Expected<CheckResult> result = checkAgainstReference(
        run->handle(), run->info(), inputs, run->out, run->lse, 0);
    if (!result)
      return result.status();
    check = *result;
  }
  SART_RETURN_IF_ERROR(report(*run, options.check ? &check : nullptr));
  if (options.check && !check.passed())
    return makeError("largest error against the reference: got ",
                     check.maxError, " and ", check.maxLseError,
                     " of lse, expected at most ", check.bound, " and ",
                     check.lseBound);
  return writeRun(*run);
}

} // namespace

int main(int argc, char **argv) {
  std::set_new_handler([] {
    std::fputs("error: memory: got none left, expected enough for the values "
               "of the function or the windows of the ranks\n",
               stderr);
    std::_Exit(1);
  });
  return runTool([&] {
    SimOptions options;
    std::string helpText;
    if (Status status = parseOptions(argc, argv, options, helpText);
        !status.ok())
      return reportError(status);
    if (options.help) {
      print(helpText);
      return finishOutput();
    }
    if (Status status = Simulation(options).execute(); !status.ok())
      return reportError(status);
    return finishOutput();
  });
}
