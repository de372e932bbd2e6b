"""Recording a call of a function as one graph, and what makes a call impossible to replay."""
