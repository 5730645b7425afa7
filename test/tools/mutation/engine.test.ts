import { gather } from './gather';

// What the harness sets up has to hold for all tests and is taken down after the last, so it comes
// before the first. What n8n blocks is read once from the environment, and would stay blocked for
// the tests that follow.
gather('engine', /blockedByN8n/, () => {
	// eslint-disable-next-line @typescript-eslint/no-require-imports -- only when it is needed
	require('../../product/engine/harness');
});
