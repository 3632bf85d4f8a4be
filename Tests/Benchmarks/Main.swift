// Figures of single parts on one core: `swift run -c release benchmarks codec`.

@main
struct Benchmarks {
  static func main() {
    let known: [(name: String, run: () throws -> Void)] = [("codec", CodecBenchmark.run)]
    let wanted = CommandLine.arguments.dropFirst()
    for (name, run) in known where wanted.isEmpty || wanted.contains(name) {
      do { try run() } catch { report("\(name): \(error)") }
    }
  }
}

func report(_ line: String) { print(line) }
