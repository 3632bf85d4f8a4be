public import Database
internal import Primitives
public import SinkState

/// What an aggregator's file says of its cursor, read beside the aggregator or without one.
public enum StoredProgress {
  public static func file(in directory: String) -> String {
    directory + "/" + AggregatorStore.fileName
  }

  /// Nil before it stored any.
  public static func read(_ directory: String) throws(DatabaseError) -> SinkProgress? {
    let database = try Database(
      readOnly: file(in: directory), versions: AggregatorStore.migrations.count)
    return try SinkTables.load(database)
  }
}
