// Figures of single parts, and of the bus as a whole: `benchmarks codec`, `benchmarks aggregate`,
// `benchmarks archive`, `benchmarks query`, `benchmarks destinations`, `benchmarks analytics`,
// `benchmarks bus PROGRAM`, `benchmarks collector PROGRAM`, `benchmarks growth PROGRAM FOLDER`;
// `benchmarks events FILE` writes events for programs that are compared.

internal import CPlatform

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

@main
struct Benchmarks {
  static func main() async {
    // As the eventbus program does.
    eb_keep_freed_memory(64 << 20)
    let words = Array(CommandLine.arguments.dropFirst())
    do {
      switch words.first {
      case "codec": try CodecBenchmark.run()
      case "aggregate": try AggregateBenchmark.run()
      case "archive": try ArchiveBenchmark.run()
      case "query": try QueryBenchmark.run()
      case "bus": try BusBenchmark.run(Array(words.dropFirst()))
      case "destinations": try DestinationBenchmark.run()
      case "analytics": try await AnalyticsBenchmark.run()
      case "growth": try GrowthBenchmark.run(Array(words.dropFirst()))
      case "events" where words.count == 2: try BenchmarkEvents.write(to: words[1])
      case "collector": try CollectorBenchmark.run(Array(words.dropFirst()))
      default:
        report(
          "benchmarks codec | aggregate | archive | query | destinations | analytics | "
            + "bus PROGRAM [CASE]... | collector PROGRAM [RATE]... | growth PROGRAM FOLDER [CASE]... | "
            + "events FILE")
      }
    } catch {
      report("\(words.first ?? ""): \(error)")
      exit(1)
    }
  }
}

func report(_ line: String) { print(line) }
