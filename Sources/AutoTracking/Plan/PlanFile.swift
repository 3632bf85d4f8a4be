internal import Primitives
internal import TrackingPlan

/// The plan in force as a file of the app's: its text as it came, replaced as a whole.
enum PlanFile {
  /// Nil where there is none yet.
  static func read(_ path: String) throws -> PublishedPlan? {
    let bytes: [UInt8]
    do throws(PrivateFile.Failure) {
      bytes = try PrivateFile.read(path, limit: PlanLimits.maximumBytes, isSecret: false)
    } catch {
      if error.isMissing { return nil }
      throw error
    }
    return try PublishedPlan(bytes: bytes)
  }

  /// Writes it on a thread of its own, since it waits for the disk; why that did not work, else nil.
  static func write(_ plan: PublishedPlan, to path: String) async -> String? {
    await withCheckedContinuation { continuation in
      do throws(SystemError) {
        try OwnedThread(name: "plan") {
          continuation.resume(returning: writeNow(plan, to: path))
        }.detach()
      } catch {
        continuation.resume(returning: "the plan is not kept: \(error)")
      }
    }
  }

  private static func writeNow(_ plan: PublishedPlan, to path: String) -> String? {
    do {
      if let folder = Folders.parent(of: path) { try Folders.make(folder, mode: 0o700) }
      try PrivateFile.write(plan.bytes, to: path)
      return nil
    } catch {
      return "the plan is not kept: \(error)"
    }
  }
}
