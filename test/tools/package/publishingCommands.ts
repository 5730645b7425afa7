/**
 * The commands of the workflow that publishes, in their order; the last one publishes. A step uses an
 * action or is a command on one line. Anything else is refused, because it would go unrehearsed.
 */
export function publishingCommands(workflow: string): string[] {
	const [, ...steps] = workflow.split(/^ +- /m);
	const commands = steps.flatMap((step) => {
		if (step.startsWith('uses: ')) return [];
		const [, command] = /^run: (\w.*)\n*$/.exec(step) ?? [];
		if (command === undefined) throw new Error(`This step cannot be rehearsed:\n${step}`);
		return [command];
	});
	if (!commands.at(-1)?.startsWith('npm publish ')) {
		throw new Error('The last step of the publishing workflow does not publish.');
	}
	return commands;
}
