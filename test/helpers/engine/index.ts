export { setSsrfProtection } from './environment';
export type { HttpAnswer } from '../http';
export { connect, everythingIn, type NodeInput, type RunOutcome } from './engine';
export type { CredentialData } from './credentials';
export {
	ACTION_TYPE,
	type Classes,
	defaultProcess,
	NO_OP_TYPE,
	NodeProcess,
	START_TYPE,
	testDouble,
	TRIGGER_TYPE,
} from './nodeTypes';
export { processedItems } from './processedItems';
export { crashedData, runNode, runWorkflow } from './run';
export type { NodeOutcome, NodeRunOptions, RunHandle, RunOptions, WorkflowOutcome } from './run';
export { PublishedTrigger, serveWebhook, type TriggerOptions } from './trigger';
export type { StoredRun } from './waiting';
export { runCredentialTest, runListSearch } from './methods';
export { webServer } from './webServer';
