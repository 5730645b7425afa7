// Loaded into the n8n that is measured: profiles it between two signals.
const { writeFileSync } = require('node:fs');
const { Session } = require('node:inspector');

const session = new Session();
session.connect();

process.on('SIGUSR2', () => {
	session.post('Profiler.enable');
	session.post('Profiler.start');
});

process.on('SIGURG', () => {
	session.post('Profiler.stop', (_error, { profile }) => {
		writeFileSync(process.env.BENCH_PROFILE_FILE, JSON.stringify(profile));
	});
});
