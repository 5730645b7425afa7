import { gather } from './gather';

// The tests of the harness cannot notice a change of a node. What the harness sets up has to hold
// for all other tests and is taken down after the last, so it comes before the first. What n8n
// blocks is read once from the environment, and would stay blocked for the tests that follow.
gather('engine', /^harness|blockedByN8n/, () => {
	// eslint-disable-next-line @typescript-eslint/no-require-imports -- only when it is needed
	require('../../product/engine/harness');
});
