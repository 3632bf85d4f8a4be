internal import CPlatform
internal import Primitives

/// What any process can say about itself, by the names Prometheus clients agree on.
public enum ProcessMetrics {
  /// CPU, memory and files now; reads `/proc/self`, some microseconds and one more for each file.
  public static func snapshot() -> [Metric] {
    let cpu = Double(eb_process_cpu_ns()) / 1e9
    return [
      Metric(
        "process_cpu_seconds_total", .counter, help: "User and system CPU time.",
        samples: [.init(cpu)]),
      .gauge(
        "process_resident_memory_bytes", help: "Memory held in RAM.",
        Double(eb_process_resident_bytes())),
    ] + files()
  }

  private static func files() -> [Metric] {
    guard let used = FileReserve.used() else { return [] }
    return [
      .gauge("process_open_fds", help: "Files and connections open.", Double(used.open)),
      .gauge("process_max_fds", help: "As many may be open.", Double(used.limit)),
    ]
  }
}
