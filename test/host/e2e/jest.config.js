const { join } = require('node:path');

const stage = join(__dirname, 'stage');

module.exports = {
	...require('../../support/jestSuite.cjs')(__dirname, 90_000),
	globalSetup: join(stage, 'sharedN8n.ts'),
	globalTeardown: join(stage, 'closeSharedN8n.ts'),
	// Each file has its n8n or its account to itself, and most of its time is waiting.
	maxWorkers: 2,
};
