internal import BusClient
internal import BusProtocol
internal import Primitives
internal import SinkState

extension ArchiveWriter {
  /// Takes a batch with what happened directly before it.
  mutating func take(_ batch: EventBatch) throws(ArchiveError) {
    if let seek = batch.seek { try self.seek(to: seek.to, generation: seek.generation) }
    if let gap = batch.gap { try pass(gapTo: gap.to) }
    try batch.forEach { (place, name, payload) throws(ArchiveError) in
      try take(
        EventPlace(
          position: place.position, time: place.time, isAddressed: place.isAddressed),
        name: name, payload: payload)
    }
    advance(to: batch.end)
  }

  /// What an archiver needs to go on when its directory fails; nil where that cannot be known.
  var memory: ArchiveMemory? {
    guard let core else { return nil }
    return ArchiveMemory(
      key: catalogue.key, device: identity.device, progress: core.progress,
      forgotten: core.forgotten)
  }

  func describe(_ status: inout ArchiverStatus) {
    status.openPart = openPart
    guard let core else { return }
    status.progress = core.progress
    status.doublesRemembered = core.doubles.count
    status.doubleBytes = core.doubles.memoryBytes
    status.conflictCount = core.doubles.conflictCount
    status.conflicts = core.doubles.conflicts
    status.peopleForgotten = core.forgotten.count
    status.unerasable = forgetting.damages.map(\.file).sorted()
    status.isErasing = forgetting.isDue(at: .max)
  }
}
