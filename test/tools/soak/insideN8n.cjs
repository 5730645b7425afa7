// Loaded into the n8n under load: clears away on demand, and says what is open.
const { writeFileSync } = require('node:fs');

process.on('SIGUSR2', () => {
	globalThis.gc({ type: 'major', execution: 'sync', flavor: 'last-resort' });
});

process.on('SIGURG', () => {
	writeFileSync(process.env.SOAK_FILE, JSON.stringify(process.getActiveResourcesInfo()));
});
