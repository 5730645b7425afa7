/**
 * Replaces a node whose service cannot be reached. n8n evaluates the parameters of the replaced node here. The test
 * checks them, and answers with the items that the replaced node would return.
 */
class Recorder {
	description = {
		displayName: 'Recorder',
		name: 'recorder',
		group: ['output'],
		version: 1,
		description: 'Stands in for another node',
		defaults: { name: 'Recorder' },
		inputs: ['main'],
		outputs: ['main'],
		properties: [
			{ displayName: 'Address', name: 'address', type: 'string', default: '' },
			{ displayName: 'Type', name: 'type', type: 'string', default: '' },
			{ displayName: 'Original', name: 'original', type: 'json', default: '{}' },
		],
	};

	async execute() {
		const calls = this.getInputData().map(({ binary = {} }, index) => ({
			parameters: this.getNodeParameter('original', index),
			files: Object.keys(binary),
		}));
		const { name, parameters } = this.getNode();
		const answers = await this.helpers.httpRequest({
			method: 'POST',
			url: this.getNodeParameter('address', 0),
			body: {
				type: this.getNodeParameter('type', 0),
				name,
				expressions: parameters.original,
				calls,
			},
			json: true,
		});
		return [
			answers.flatMap((items, item) => items.map((json) => ({ json, pairedItem: { item } }))),
		];
	}
}

module.exports = { Recorder };
