// What an app needs of plans comes with automatic tracking.
@_exported public import TrackingPlan
