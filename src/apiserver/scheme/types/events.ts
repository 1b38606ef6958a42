/** Types of events: written by scripts/schema-table.mjs, read by ../types.ts, which explains the notation. */
export const types = `
Event action:s apiVersion:s deprecatedCount:i deprecatedFirstTimestamp&:t deprecatedLastTimestamp&:t deprecatedSource&:core.EventSource eventTime!:u kind:s metadata&:meta.ObjectMeta note:s reason:s regarding&:core.ObjectReference related:core.ObjectReference reportingController:s reportingInstance:s series:EventSeries type:s
EventSeries count!:i lastObservedTime!:u
`
