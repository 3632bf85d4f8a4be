internal import BusProtocol
internal import Primitives

// The machine that the bus runs on.
extension Doctor {
  static func disk(_ facts: DoctorFacts) -> DoctorCheck {
    guard let disk = facts.disk else {
      return DoctorCheck("disk", .skipped, "there is no directory \(facts.data)")
    }
    let share = disk.total > 0 ? disk.free * 100 / disk.total : 100
    let finding = "\(disk.free >> 20) MiB free of \(disk.total >> 20) (\(share) %)"
    let room = "make room, or lower --retention-bytes of the broker; reading goes on meanwhile"
    if disk.freeFiles == 0 {
      return DoctorCheck("disk", .failed, "no file can be made any more", advice: room)
    }
    if disk.free < 256 << 20 {
      // A small disk that is mostly free is meant to be small.
      return share < 50
        ? DoctorCheck("disk", .failed, finding + ", less than 256 MiB", advice: room)
        : DoctorCheck(
          "disk", .note, finding + ", less than 256 MiB",
          advice: "small for a journal: the broker's --retention-bytes should fit in it")
    }
    guard disk.free < 2 << 30, share < 10 else { return DoctorCheck("disk", .ok, finding) }
    return DoctorCheck(
      "disk", .note, finding + ", less than 10 % and 2 GiB",
      advice: "make room before it is full")
  }

  static func rights(_ facts: DoctorFacts) -> DoctorCheck {
    if let first = facts.closedDirectories.first {
      return DoctorCheck(
        "rights", .failed, "\(first) does not let this user in: what is there is not looked at",
        advice: "run it as the user of the services, as with sudo -u eventbus")
    }
    guard let open = facts.openDirectories else {
      return DoctorCheck("rights", .skipped, "there is no directory \(facts.data)")
    }
    guard let first = open.first else {
      return DoctorCheck("rights", .ok, "what is kept here is for its user alone")
    }
    return DoctorCheck(
      "rights", .note,
      "every user of this machine can look into \(first), where people's events are",
      advice: "chmod o-rwx \(open.joined(separator: " "))")
  }

  /// Journal times are the broker's clock: one that went back shows in events from the future.
  static func clock(_ facts: DoctorFacts) -> DoctorCheck {
    let earliest: Int64 = 1_704_067_200_000_000_000  // 2024: no event can be older.
    guard facts.now > earliest else {
      return DoctorCheck(
        "clock", .failed, "it is \(Timestamp(nanoseconds: facts.now).text) here",
        advice: "set the clock, and keep it set (chrony, systemd-timesyncd)")
    }
    guard case .answered(let status) = facts.broker else {
      return DoctorCheck("clock", .ok, Timestamp(nanoseconds: facts.now).text)
    }
    var newest: Int64 = 0
    for case .map(let name) in status.list("names") {
      newest = max(newest, Int64(clamping: name.number("lastTime")))
    }
    guard newest > facts.now + 5_000_000_000 else {
      return DoctorCheck("clock", .ok, Timestamp(nanoseconds: facts.now).text)
    }
    return DoctorCheck(
      "clock", .failed,
      "the newest event is of \(Timestamp(nanoseconds: newest).text), "
        + "\((newest - facts.now) / 1_000_000_000) s ahead of the clock here",
      advice: "the clock was set back, here or at the broker: set it, and keep it set")
  }

  static func openFiles(_ facts: DoctorFacts) -> DoctorCheck {
    guard let limit = facts.openFiles else {
      return DoctorCheck("open files", .skipped, "the system does not say")
    }
    let finding = "limit \(limit.soft), which services raise to \(limit.hard)"
    guard limit.hard < 4096 else { return DoctorCheck("open files", .ok, finding) }
    return DoctorCheck(
      "open files", limit.hard < 1024 ? .failed : .note, finding,
      advice: "each connection is a file: raise it (LimitNOFILE= in systemd, ulimit -n)")
  }
}
