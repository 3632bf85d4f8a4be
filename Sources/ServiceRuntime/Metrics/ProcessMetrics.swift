internal import CPlatform

/// What any process can say about itself, by the names Prometheus clients agree on.
public enum ProcessMetrics {
  /// CPU and memory now; reads `/proc/self/statm`, a few microseconds.
  public static func snapshot() -> [Metric] {
    let cpu = Double(eb_process_cpu_ns()) / 1e9
    return [
      Metric(
        "process_cpu_seconds_total", .counter, help: "User and system CPU time.",
        samples: [.init(cpu)]),
      .gauge(
        "process_resident_memory_bytes", help: "Memory held in RAM.",
        Double(eb_process_resident_bytes())),
    ]
  }
}
