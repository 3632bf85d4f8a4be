internal import Primitives

// What waits for a destination waits for somebody else's machine: the doctor says for what and how long, and
// calls it a failure once it has lasted.
extension Doctor {
  static func delivery(_ sink: DoctorFacts.Sink, _ facts: DoctorFacts) -> DoctorCheck? {
    // A stopped one's words are old; that it does not run is said of its service and its lag.
    guard let delivery = sink.delivery, delivery.isRunning else { return nil }
    let name = "destination \(sink.name)"
    let wait = delivery.oldest.map { max(0, facts.now - $0) } ?? 0
    var finding = delivery.state.isEmpty ? "has said nothing yet" : delivery.state
    if !delivery.reason.isEmpty { finding += ": \(delivery.reason)" }
    if delivery.oldest != nil {
      finding += "; the oldest event has waited \(wait / 1_000_000_000) s"
    }
    if delivery.isRefusingAll {
      return DoctorCheck(
        name, .failed, finding,
        advice: delivery.state == "store-error"
          ? "events are kept: make room for \(delivery.folder), or mend its disk"
          : "events are kept until it takes them: correct the credentials or the endpoint")
    }
    let limit = "\(facts.maximumWait / 60_000_000_000) min"
    if wait > facts.maximumWait {
      return DoctorCheck(
        name, .failed, finding + ", more than \(limit)",
        advice: delivery.isHeldUp
          ? "events are kept and go on by themselves: see whether the destination or the way to it is down"
          : "the destination takes less than comes in, or refuses some users' events: see its log")
    }
    guard delivery.isHeldUp else { return DoctorCheck(name, .ok, finding) }
    return DoctorCheck(
      name, .note, finding,
      advice: "events are kept, and it tries again by itself; a failure once one waits \(limit)")
  }

  /// How a subscriber goes away for good: a destination has a folder, which `doctor` and `status` find.
  static func retiring(_ name: String, _ folder: String?) -> String {
    let deletion = "`eventbus consumers delete '\(name)'`"
    guard let folder else { return deletion }
    return deletion + ", and move \(folder) away or remove it (its dead letters are in it)"
  }
}
