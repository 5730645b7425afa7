// Loaded into the n8n that is measured.
process.on('SIGUSR2', () => globalThis.gc());
