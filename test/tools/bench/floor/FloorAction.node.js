/** The least that an action can do: it hands its items on. */
class FloorAction {
	description = {
		displayName: 'Floor Action',
		name: 'floorAction',
		group: ['transform'],
		version: 1,
		description: 'What n8n itself takes for a node',
		defaults: { name: 'Floor Action' },
		inputs: ['main'],
		outputs: ['main'],
		properties: [],
	};

	async execute() {
		return [this.getInputData()];
	}
}

module.exports = { FloorAction };
