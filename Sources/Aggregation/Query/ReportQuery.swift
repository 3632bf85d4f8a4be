internal import Database

/// Reads an aggregator's file without an aggregator.
public enum ReportQuery {
  /// Nil when the file knows no such report, or one of that name that counts something else.
  public static func answer(
    _ definition: ReportDefinition, in path: String, _ question: ReportQuestion = ReportQuestion()
  ) throws(AggregatorError) -> ReportAnswer? {
    let reading: ReportReading
    do throws(DatabaseError) {
      reading = try ReportReading(path)
    } catch { throw .database(error) }
    return try reading.answer(definition, question)
  }
}
