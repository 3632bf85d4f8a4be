import Archive
import Primitives

/// Damage of an archive as all commands tell it: the file, the place, what it is, what to do.
enum ArchiveDamageText {
  static let advice =
    "put the file back from a copy of the archive, or go on without what is damaged: query and replay "
    + "read all the rest, and compact leaves the file as it is"

  /// A line for each place, and what to do.
  static func lines(_ findings: ArchiveFindings, _ directory: String) -> [String] {
    lines(findings.damages, of: findings.damageCount, directory)
  }

  /// - Parameter count: how many there are, of which `damages` are the first.
  static func lines(_ damages: [PartDamage], of count: Int, _ directory: String) -> [String] {
    guard count > 0 else { return [] }
    var lines = damages.map { "damaged: \(directory)/\($0)" }
    if count > damages.count {
      lines.append("and \((count - damages.count).counted("more damaged place"))")
    }
    return lines + ["what to do: \(advice)"]
  }
}
